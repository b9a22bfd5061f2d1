//! The command line of Ibid.

fn main() {}
