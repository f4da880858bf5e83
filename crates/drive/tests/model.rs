//! Model files: those that come with drivelab are complete and sourced; wrong ones are refused with key, value and
//! limit.

use std::path::PathBuf;
use std::sync::Arc;

use drivelab_controller::Device;
use drivelab_drive::{Drive, Layer, Model};

fn models() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut models: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    models.sort();
    models
}

fn text(name: &str) -> String {
    models().into_iter().find(|(stem, _)| stem == name).unwrap().1
}

/// A model with the layers that it stands on.
fn shipped(name: &str) -> Model {
    let mut texts = vec![(name.to_owned(), text(name))];
    while let Some(base) = base_of(&texts[0].1) {
        texts.insert(0, (base.clone(), text(&base)));
    }
    let layers: Vec<_> = texts.iter().map(|(origin, text)| Layer { text, origin }).collect();
    Model::parse_layers(&layers, &[]).unwrap()
}

fn base_of(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().unwrap();
    let base = table.get("base")?;
    Some(base.get("value").unwrap_or(base).as_str().unwrap().to_owned())
}

fn set(pairs: &[(&str, &str)]) -> Result<Model, String> {
    let pairs: Vec<_> = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Model::parse(&text("intel-x25-m-g1-80gb"), "x25", &pairs).map_err(|error| error.to_string())
}

#[test]
fn every_value_of_every_shipped_model_has_a_source() {
    assert!(models().len() >= 2);
    for (stem, _) in models() {
        let model = shipped(&stem);
        assert_eq!(model.name(), stem, "the file is named like the model");
        for (parameter, sourced) in model.parameters() {
            let source = sourced.source.as_deref().unwrap_or("");
            assert!(!source.trim().is_empty(), "{stem}: {} has no source", parameter.key);
        }
    }
}

#[test]
fn the_x25_m_has_its_published_capacity() {
    let drive = Drive::new(Arc::new(set(&[]).unwrap()), 1).unwrap();
    assert_eq!(drive.capacity_sectors(), 156_301_488);
    let description = Drive::describe(drive.model());
    assert_eq!(description["derived"]["raw_capacity_bytes"], 80u64 << 30);
}

#[test]
fn overrides_change_the_model_and_its_hash() {
    let plain = set(&[]).unwrap();
    let fifo = set(&[("ftl.victim_selection", "fifo"), ("spare_ratio", "0.28")]).unwrap();
    assert_eq!(fifo.text("ftl.victim_selection"), "fifo");
    assert_ne!(plain.hash(), fifo.hash());
    let derived = &Drive::describe(&fifo)["derived"];
    assert!((derived["spare_ratio"].as_f64().unwrap() - 0.28).abs() < 1e-6);
}

#[test]
fn a_layer_changes_only_what_it_says() {
    let base = text("intel-x25-m-g1-80gb");
    let top = "name = \"intel-x25-m-g1-80gb@half\"\nbase = \"intel-x25-m-g1-80gb\"\nspare_ratio = 0.5\n\
               [flash]\nchannel_count = { value = 5, source = \"half of them\" }";
    let layers = [Layer { text: &base, origin: "base" }, Layer { text: top, origin: "top" }];
    let model = Model::parse_layers(&layers, &[]).unwrap();
    assert_eq!(model.name(), "intel-x25-m-g1-80gb@half");
    let derived = &Drive::describe(&model)["derived"];
    assert_eq!(derived["raw_capacity_bytes"], 40u64 << 30);
    assert!((derived["spare_ratio"].as_f64().unwrap() - 0.5).abs() < 1e-6);
    assert_eq!(model.text("ftl.victim_selection"), "greedy");
    let wrong = [layers[0], Layer { text: "base = \"a\"\n[ftl]\nmap_unit_byte = 1", origin: "top" }];
    let message = Model::parse_layers(&wrong, &[]).unwrap_err().to_string();
    assert_eq!(message, "top: unknown key ftl.map_unit_byte (did you mean ftl.map_unit_bytes?)");
}

#[test]
fn wrong_requests_name_key_value_and_limit() {
    let message = |pairs: &[(&str, &str)]| set(pairs).unwrap_err();
    assert_eq!(
        message(&[("flash.chanel_count", "3")]),
        "x25: unknown key flash.chanel_count (did you mean flash.channel_count?)"
    );
    assert_eq!(
        message(&[("victim_selection", "fifo")]),
        "x25: unknown key victim_selection (did you mean ftl.victim_selection?)"
    );
    assert_eq!(
        message(&[("flash.channel_count", "0")]),
        "x25: flash.channel_count = 0: must be a whole number from 1 to 1024"
    );
    assert!(message(&[("flash.channel_count", "-1")]).contains("flash.channel_count = -1"));
    assert!(message(&[("flash.channel_count", "ten")]).contains("whole number"));
    assert!(message(&[("spare_ratio", "nan")]).contains("must be a number from 0 to 100"));
    assert!(message(&[("ftl.victim_selection", "gready")]).contains("one of greedy, fifo"));
    assert!(message(&[("user_capacity_bytes", "99999999999")]).contains("raw capacity, 85899345920 bytes"));
    assert!(message(&[("spare_ratio", "0")]).contains("x25: spare_ratio = 0: gives user_capacity_bytes"));
    assert!(message(&[("flash.blocks_per_plane", "1048576")]).contains("2^31"));
    assert!(message(&[("ftl.map_unit_bytes", "1000")]).contains("whole number of 512-byte sectors"));
    assert!(
        message(&[("write_buffer.size_bytes", "512")])
            .contains("write_buffer.size_bytes = 512: must hold at least one page, 4096 bytes")
    );
    let missing = Model::parse("name = \"a\"\ntitle = \"b\"", "file.toml", &[]).unwrap_err().to_string();
    assert!(missing.contains("flash.channel_count is missing"), "{missing}");
    let syntax = Model::parse("name = ", "file.toml", &[]).unwrap_err().to_string();
    assert!(syntax.contains("line 1"), "{syntax}");
}
