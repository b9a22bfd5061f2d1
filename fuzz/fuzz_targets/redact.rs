#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let redactor = ibid_redact::Redactor::new();
    let once = redactor.redact(&text);
    let twice = redactor.redact(&once.text);
    assert_eq!(once.text, twice.text, "what is redacted stays as it is");
    if serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok() {
        let json = redactor.redact_json(&text);
        assert!(serde_json::from_str::<&serde_json::value::RawValue>(&json.text).is_ok(), "JSON stays JSON");
    }
});
