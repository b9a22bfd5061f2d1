#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = ibid_harness::SessionName::parse(&text);
    if let Ok(name) = ibid_carrier::names::checked_component(&text) {
        assert!(!name.contains(|c| matches!(c, '/' | '\\' | ':')));
    }
    let (clean, count) = ibid_model::replace_lone_surrogates(&text);
    assert_eq!(clean.len(), text.len());
    assert_eq!(count == 0, clean == text);
});
