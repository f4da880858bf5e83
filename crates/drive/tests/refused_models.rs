//! What can't be is refused by what was said, not by what follows from it.

use std::sync::Arc;

use drivelab_drive::{Layer, Model};

use crate::shipped;

const SMALL: &str = include_str!("../examples/small.toml");

fn refused(name: &str, key: &str, value: &str) -> String {
    shipped::varied(name, &[(key, value)]).unwrap_err().to_string()
}

#[test]
fn values_stand_as_they_were_given() {
    for (name, key, value, words) in [
        ("samsung-980-pro-1tb", "flash.page_bytes", "1048576", "makes 3145728 of what works together"),
        ("samsung-980-pro-1tb", "flash.oob_bytes", "20000", "makes 60000 of what works together"),
        ("ocz-summit-128gb", "flash.planes_per_die", "4", "makes 32 of what works together"),
        ("wd-velociraptor-300gb", "read_cache.segments", "20000", "must be from 1 to 8192"),
        ("samsung-980-pro-1tb", "flash.two_plane", "false", "(flash.two_plane)"),
        (
            "samsung-980-pro-1tb",
            "user_capacity_bytes",
            "1099511627776",
            "user_capacity_bytes = 1099511627776 needs the other blocks",
        ),
    ] {
        let message = refused(name, key, value);
        assert!(message.contains(words), "{message}");
        let is_named = message.contains(&format!("{key} = {value}")) || message.contains(&format!("({key})"));
        assert!(is_named, "{message}");
    }
    // What follows from other values is told as it is.
    assert!(!refused("intel-x25-m-g1-80gb", "user_capacity_bytes", "85899340001").contains("together"));
}

#[test]
fn what_is_wrong_with_a_small_version_is_wrong_with_its_scale() {
    for (name, divisor, words) in [
        ("corsair-force-gs-240gb@5.0.2", 282, "user_capacity_bytes would be"),
        ("intel-660p-1tb", 185, "user_capacity_bytes would be"),
        ("samsung-980-1tb", 512, "flash.blocks_per_plane would be"),
    ] {
        let message = refused(name, "scale_divisor", &divisor.to_string());
        let said = format!("scale_divisor = {divisor} (--scale 1/{divisor}): must be at most ");
        let (_, limit) = message.split_once(&said).unwrap_or_else(|| panic!("{message}"));
        let (most, why) = limit.split_once(": ").unwrap();
        assert!(why.starts_with(words), "{message}");
        // What is named as the limit is one.
        let most: u64 = most.parse().unwrap();
        assert!(shipped::varied(name, &[("scale_divisor", &most.to_string())]).is_ok(), "{message}");
        assert!(
            refused(name, "scale_divisor", &(most + 1).to_string())
                .contains(&format!("must be at most {most}: "))
        );
    }
}

#[test]
fn what_makes_members_the_drives_that_they_are_is_refused() {
    for (key, value) in
        [("member.family", "hard-disk"), ("member.base", "nonsense"), ("member.name", "other")]
    {
        let message = refused("intel-x25-v-40gb-raid0-x2", key, value);
        assert!(message.contains(&format!("{key} = {value}: must be left out")), "{message}");
    }
}

#[test]
fn an_unknown_key_is_looked_for_in_its_section() {
    let message = refused("samsung-980-pro-1tb", "slc_cache.size", "4");
    assert!(
        message.contains("(did you mean one of slc_cache.max_bytes, slc_cache.static_bytes"),
        "{message}"
    );
    let message = refused("samsung-980-pro-1tb", "slc_cache.static_byte", "4");
    assert!(message.contains("(did you mean slc_cache.static_bytes?)"), "{message}");
    let message = refused("samsung-980-pro-1tb", "ftl.pages_per_block", "4");
    assert!(message.contains("(did you mean flash.pages_per_block?)"), "{message}");
    let message = refused("samsung-980-pro-1tb", "fash.channel_count", "4");
    assert!(message.contains("(did you mean flash.channel_count?)"), "{message}");
}

/// The reason why texts, the lowest first, are no model.
fn refused_texts(texts: &[&str]) -> String {
    let origins: Vec<String> = (0..texts.len()).map(|number| format!("text {number}")).collect();
    let layers: Vec<_> = texts.iter().zip(&origins).map(|(text, origin)| Layer { text, origin }).collect();
    Model::parse_layers(&layers, &[]).unwrap_err().to_string()
}

/// Two drives would make one that nobody ever built.
#[test]
fn texts_that_do_not_belong_together_make_no_drive() {
    let (old, mine) = (SMALL, "name = \"mine\"\ntitle = \"Mine\"\n");
    let on = |base: &str| format!("base = \"{base}\"\n{mine}");
    assert_eq!(
        refused_texts(&[old, &on("other")]),
        "text 1: base = \"other\": names another model than lies under this one, which is \"small\""
    );
    assert_eq!(
        refused_texts(&[&on("small")]),
        "text 0: base = \"small\": names a model that was not laid under this one"
    );
    assert_eq!(
        refused_texts(&[old, mine]),
        "text 1: name = \"mine\": lies on \"small\" and must state base = \"small\", or no name"
    );
    let titled = "title = \"Mine\"\n";
    let [grade, other] =
        ["chip@fast", "chop"].map(|name| format!("part = \"{name}\"\n[flash]\nread_ns = 50000\n"));
    let part = "part = \"chip\"\n[flash]\nread_ns = 60000\n";
    assert_eq!(
        refused_texts(&[part, &other, old]),
        "text 1: part = \"chop\": lies on chip, another part: it must be a grade of that one"
    );
    assert!(refused_texts(&[part, &grade, old]).contains("flash.part"), "of which nothing is said: {old}");
    for texts in [
        vec![old, &on("small")],
        vec![old, &on("here/small.toml")],
        vec![old, &on("mine@2.toml")],
        vec![old, &on("x")],
        vec![old, titled],
    ] {
        let layers: Vec<_> = texts.iter().map(|text| Layer { text, origin: "x" }).collect();
        Model::parse_layers(&layers, &[]).unwrap();
    }
}

#[test]
fn an_array_of_other_members_than_it_names_is_refused() {
    let member = Arc::new(Model::parse(SMALL, "small", &[]).unwrap());
    let array = "name = \"pair\"\ntitle = \"Pair\"\nfamily = \"raid-0\"\nmembers = [\"small\", \"other\"]\n[array]\nstrip_bytes = 65536\n";
    let layers = [Layer { text: array, origin: "pair" }];
    let by_path = array.replace("\"other\"", "\"mine@2.toml\"");
    let by_path = [Layer { text: &by_path, origin: "pair" }];
    Model::parse_array(&by_path, &[], &[Arc::clone(&member), Arc::clone(&member)]).unwrap();
    let said = Model::parse_array(&layers, &[], &[Arc::clone(&member), member]).unwrap_err().to_string();
    assert_eq!(said, "pair: members = \"other\": names another model than was given in its place, \"small\"");
}
