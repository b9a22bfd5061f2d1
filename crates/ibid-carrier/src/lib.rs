//! ibid-carrier.
