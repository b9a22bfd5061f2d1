#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ibid_fuzz::harness("qoder", data);
});
