//! One session as its lanes tell it.
