//! The labelled texts, one by one.

mod cases;

use ibid_redact::Redactor;

// fault 63: https://github.com/NousResearch/hermes-agent/issues/72925
#[test]
fn every_labelled_secret_is_replaced_and_nothing_around_it() {
    let redactor = Redactor::new();
    let mut wrong = Vec::new();
    for (around, secret, kind) in cases::positives::CASES {
        let text = around.replace("{}", &secret.concat());
        let expected = around.replace("{}", &format!("[redacted:{kind}]"));
        let redacted = redactor.redact(&text);
        if redacted.text != expected || redacted.counts.iter().collect::<Vec<_>>() != [(*kind, 1)] {
            wrong.push(format!("expected {expected}\n     got {}", redacted.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases::positives::CASES.len(), wrong.join("\n"));
}

#[test]
fn every_harmless_text_is_left_alone_and_borrowed() {
    let redactor = Redactor::new();
    let mut wrong = Vec::new();
    for text in cases::negatives::CASES {
        let redacted = redactor.redact(text);
        if !matches!(redacted.text, std::borrow::Cow::Borrowed(same) if same == *text) {
            wrong.push(format!("expected {text}\n     got {}", redacted.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases::negatives::CASES.len(), wrong.join("\n"));
}

#[test]
fn the_table_holds_at_least_sixty_texts_of_each_label() {
    assert!(cases::positives::CASES.len() >= 60);
    assert!(cases::negatives::CASES.len() >= 60);
}
