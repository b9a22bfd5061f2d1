#![no_main]
//! The headers of any request: nothing panics, no control character comes out, and what is written
//! of what was read keeps the budget and reads back as it, or as less where something was left out.

use http::{HeaderMap, HeaderName, HeaderValue};
use ibid_capture::envelope::{BUDGET, Envelope, PREFIX, is_complete, thread_id};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let Some(at) = line.iter().position(|byte| *byte == b':') else { continue };
        let value = line[at + 1..].trim_ascii();
        let pair = (HeaderName::from_bytes(&line[..at]), HeaderValue::from_bytes(value));
        if let (Ok(name), Ok(value)) = pair {
            headers.append(name, value);
        }
    }
    let _ = thread_id(&headers, &ibid_harness::thread_rules());

    let read = Envelope::read(&headers);
    assert_eq!(read.is_complete(), is_complete(&headers));
    let texts = [&read.harness_id, &read.harness_session_id, &read.harness_version, &read.cwd, &read.name];
    for text in texts.into_iter().chain(&read.parent_harness_session_id) {
        assert!(!text.bytes().any(|byte| byte < 0x20 || byte == 0x7f), "a control character came out");
    }

    let omitted = read.write(&mut headers);
    let ours = headers.iter().filter(|(name, _)| name.as_str().starts_with(PREFIX));
    assert!(ours.map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>() <= BUDGET);
    let again = Envelope::read(&headers);
    assert!(again.harness_id == read.harness_id || !omitted.is_empty());
    if again.harness_id == read.harness_id && omitted.is_empty() && read.harness_id != "unknown" {
        assert_eq!(again.cwd, read.cwd);
        assert_eq!(again.name, read.name);
        assert_eq!(again.harness_session_id.trim(), read.harness_session_id.trim());
        assert_eq!(again.harness_metadata, read.harness_metadata);
    }
});
