//! What is read of real and of hostile inputs.
