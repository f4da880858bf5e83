//! Model files: those that come with drivelab are complete and sourced; wrong ones are refused with key, value and
//! limit.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::shipped;
use crate::shipped::{models, shipped, text};
use drivelab_controller::Device;
use drivelab_drive::parameters::Fallback;
use drivelab_drive::{Drive, Family, Layer, Model};
use serde_json::Value;

fn set(pairs: &[(&str, &str)]) -> Result<Model, String> {
    shipped::varied("intel-x25-m-g1-80gb", pairs).map_err(|error| error.to_string())
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
fn a_description_has_every_row_of_the_family_stated_or_left_out() {
    for &family in Family::ALL {
        let mut all = models().into_iter().map(|(stem, _)| shipped(&stem));
        let model = all.find(|model| model.family() == family).unwrap();
        let description = Drive::describe(&model);
        let keys = |list: &str| -> Vec<String> {
            let rows = description[list].as_array().unwrap().iter();
            rows.map(|row| row["key"].as_str().unwrap().to_owned()).collect()
        };
        let (stated, left_out) = (keys("parameters"), keys("left_out"));
        for parameter in family.parameters() {
            let key = parameter.key.to_owned();
            // Where no bits go wrong, rows about that are neither.
            let of_errors = matches!(parameter.default, Fallback::ByCell(_)) && !stated.contains(&key);
            assert_eq!(stated.contains(&key) || of_errors, !left_out.contains(&key), "{family:?}: {key}");
        }
        let said = |row: &Value| row["help"] != "" && row["allowed"] != "" && row["value"].is_null();
        assert!(description["left_out"].as_array().unwrap().iter().all(said));
    }
}

#[test]
fn the_page_of_models_has_every_parameter_that_may_be_left_out() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/your-own-drive.md");
    let page = std::fs::read_to_string(place).unwrap();
    let (_, table) = page.split_once("| key | unit | meaning |\n|---|---|---|\n").unwrap();
    let rows: BTreeSet<_> =
        table.lines().take_while(|line| line.starts_with('|')).map(str::to_owned).collect();
    // Of the two of the capacity a model has one; the page's text has what a file or an option alone says.
    let elsewhere = ["user_capacity_bytes", "spare_ratio", "scale_divisor", "base"];
    let optional = Family::ALL
        .iter()
        .flat_map(|family| family.parameters())
        .filter(|parameter| parameter.default == Fallback::Absent && !elsewhere.contains(&parameter.key));
    for key in elsewhere {
        assert!(page.contains(&format!("`{key}`")), "docs/your-own-drive.md says nothing of {key}");
    }
    let expected = optional
        .map(|row| format!("| `{}` | {} | {} |", row.key, row.unit, row.help))
        .collect::<BTreeSet<_>>();
    let missing: Vec<_> = expected.symmetric_difference(&rows).collect();
    assert!(
        missing.is_empty(),
        "in the table of docs/your-own-drive.md or in the engine alone: {missing:#?}"
    );
}

#[test]
fn overrides_change_the_model_and_its_hash() {
    let plain = set(&[]).unwrap();
    let fifo = set(&[("ftl.victim_selection", "fifo"), ("spare_ratio", "0.28")]).unwrap();
    assert_eq!(fifo.text("ftl.victim_selection"), "fifo");
    assert_ne!(plain.hash(), fifo.hash());
    let said = set(&[("ftl.window_blocks", "32")]).unwrap();
    assert_eq!(said.hash(), plain.hash(), "a default that is stated is the same drive");
    let derived = &Drive::describe(&fifo)["derived"];
    assert!((derived["spare_ratio"].as_f64().unwrap() - 0.28).abs() < 1e-6);
}

#[test]
fn a_drive_without_room_for_its_write_streams_is_refused_by_name() {
    let small = |more: &[(&str, &str)]| {
        let few = [("flash.blocks_per_plane", "16"), ("flash.planes_per_die", "1"), ("spare_ratio", "0.7")];
        set(&few.iter().chain(more).copied().collect::<Vec<_>>())
    };
    assert!(small(&[]).is_ok());
    let refused = small(&[("ftl.placement", "sepbit")]).unwrap_err();
    let ending = "raw capacity less 9 working blocks per die, 6 of them for the write streams of ftl.placement = sepbit";
    assert!(
        refused.starts_with("intel-x25-m-g1-80gb: spare_ratio = 0.7: gives user_capacity_bytes"),
        "{refused}"
    );
    assert!(refused.ends_with(ending), "{refused}");
    let in_place = [("ftl.cleaning_mode", "rewrite-in-place"), ("ftl.placement", "hint")];
    assert!(small(&in_place).unwrap_err().contains("ftl.placement = hint: must be host-and-cleaning"));
}

#[test]
fn what_tables_show_is_one_line_and_a_month_is_one() {
    for (key, wrong, allowed) in [
        ("title", "\"\"", "must be one line of text"),
        ("title", "\" \"", "must be one line of text"),
        ("firmware", "\"a\\nb\"", "must be one line of text"),
        ("released", "soon", "must be a year and a month, as \"2008-10\""),
        ("released", "2024-13", "must be a year"),
        ("released", "2024-+1", "must be a year"),
        ("released", "2024-001", "must be a year"),
    ] {
        let message = set(&[(key, wrong)]).unwrap_err();
        assert!(message.contains(&format!("{key} = ")) && message.contains(allowed), "{message}");
    }
    assert_eq!(set(&[("released", "2024-12")]).unwrap().text("released"), "2024-12");
}

#[test]
fn a_layer_changes_only_what_it_says() {
    let base = text("intel-x25-m-g1-80gb");
    let top = "name = \"intel-x25-m-g1-80gb@half\"\nbase = \"intel-x25-m-g1-80gb\"\nspare_ratio = 0.5\n\
               [flash]\nchannel_count = { value = 5, source = \"half of them\" }";
    let part = text("flash/imft-50nm-mlc");
    let layers = [("part", part.as_str()), ("base", &base), ("top", top)];
    let layers = layers.map(|(origin, text)| Layer { text, origin });
    let model = Model::parse_layers(&layers, &[]).unwrap();
    assert_eq!(model.name(), "intel-x25-m-g1-80gb@half");
    let derived = &Drive::describe(&model)["derived"];
    assert_eq!(derived["raw_capacity_bytes"], 40u64 << 30);
    assert!((derived["spare_ratio"].as_f64().unwrap() - 0.5).abs() < 1e-6);
    assert_eq!(model.text("ftl.victim_selection"), "greedy");
    let wrong = [
        layers[0],
        layers[1],
        Layer { text: "name = \"b\"\nbase = \"a\"\n[ftl]\nmap_unit_byte = 1", origin: "top" },
    ];
    let message = Model::parse_layers(&wrong, &[]).unwrap_err().to_string();
    assert_eq!(message, "top: unknown key ftl.map_unit_byte (did you mean ftl.map_unit_bytes?)");
    let nameless = [layers[0], layers[1], Layer { text: "base = \"a\"\nspare_ratio = 0.5", origin: "top" }];
    let message = Model::parse_layers(&nameless, &[]).unwrap_err().to_string();
    assert!(message.starts_with("top: name is missing"), "{message}");
}

const PAIR: &str = "name = \"pair\"\ntitle = \"Pair\"\nfamily = \"raid-0\"\n\
                    members = [\"intel-x25-m-g1-80gb\", \"intel-x25-m-g1-80gb\"]\n\
                    [array]\nstrip_bytes = 131072\n";

fn pair(more: &str, pairs: &[(&str, &str)]) -> Result<Model, String> {
    let pairs: Vec<_> = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let members = [set(&[]).unwrap(), set(&[("spare_ratio", "0.28")]).unwrap()].map(Arc::new);
    let text = format!("{PAIR}{more}");
    Model::parse_array(&[Layer { text: &text, origin: "pair" }], &pairs, &members)
        .map_err(|error| error.to_string())
}

#[test]
fn a_flash_part_is_one_for_all_drives_that_have_it() {
    let part = "part = \"chip\"\n[flash]\npage_bytes = 4096\nread_ns = 50000\nprogram_ns = 900000";
    let drive = "name = \"a\"\ntitle = \"A\"\nspare_ratio = 0.3\n[ftl]\nmap_unit_bytes = 4096\n\
                 [link]\nbytes_per_s = 0\n[write_buffer]\nsize_bytes = 65536\n[flash]\n\
                 part = \"chip\"\nchannel_count = 2\ndies_per_channel = 2\nplanes_per_die = 1\n\
                 blocks_per_plane = 64\npages_per_block = 64\nerase_ns = 2000000\nbus_bytes_per_s = 0";
    let read = |part: &str, drive: &str, pairs: &[(&str, &str)]| {
        let pairs: Vec<_> = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let layers = [Layer { text: part, origin: "chip.toml" }, Layer { text: drive, origin: "a.toml" }];
        Model::parse_layers(&layers, &pairs).map_err(|error| error.to_string())
    };
    let plain = read(part, drive, &[]).unwrap();
    assert_eq!(plain.optional_integer("flash.program_ns"), Some(900_000));
    let faster = read(part, drive, &[("flash.program_ns", "450000")]).unwrap();
    assert_eq!(faster.optional_integer("flash.program_ns"), Some(450_000));

    let own = read(part, &format!("{drive}\nprogram_ns = 450000"), &[]).unwrap_err();
    assert_eq!(
        own,
        "a.toml: flash.program_ns = 450000: belongs to the flash part chip (chip.toml), which drives share; \
         `--set` can change it"
    );
    let other = read(part, &drive.replace("\"chip\"", "\"other\""), &[]).unwrap_err();
    assert_eq!(
        other,
        "a.toml: flash.part = \"other\": must be \"chip\", the flash part that lies under the model"
    );
    let copy = [
        Layer { text: part, origin: "flash/my-chip.toml" },
        Layer { text: &drive.replace("\"chip\"", "\"my-chip\""), origin: "a.toml" },
    ];
    assert_eq!(
        Model::parse_layers(&copy, &[]).unwrap_err().to_string(),
        "flash/my-chip.toml: part = \"chip\": must be \"my-chip\", the name of its file"
    );
    let bus = read(&part.replace("[flash]", "[link]\nbytes_per_s = 1\n[flash]"), drive, &[]).unwrap_err();
    assert_eq!(bus, "chip.toml: link.bytes_per_s = 1: is no property of a flash part");
    let alone = Model::parse(drive, "a.toml", &[]).unwrap_err().to_string();
    assert_eq!(alone, "a.toml: flash.part = \"chip\": names a flash part that was not laid under the model");
    let member = pair("[member.flash]\nprogram_ns = 450000\n", &[]).unwrap_err();
    assert!(member.contains("belongs to the flash part imft-50nm-mlc"), "{member}");
}

#[test]
fn a_base_that_states_what_another_part_states_is_not_to_blame() {
    let part = "part = \"new-chip\"\n[flash]\nread_ns = 60000\ntwo_plane = true";
    let base = "name = \"old\"\ntitle = \"Old\"\n[flash]\npart = \"old-chip\"\ntwo_plane = false";
    let read = |mine: &str, pairs: &[(&str, &str)]| {
        let pairs: Vec<_> = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let layers = [("flash/new-chip.toml", part), ("old.toml", base), ("mine.toml", mine)];
        let layers = layers.map(|(origin, text)| Layer { text, origin });
        Model::parse_layers(&layers, &pairs).unwrap_err().to_string()
    };
    let mine = "base = \"old\"\nname = \"mine\"\ntitle = \"Mine\"\n";
    let other = "mine.toml: flash.part = \"new-chip\": must be a part that leaves out flash.two_plane, which old.toml \
                 states (false); or choose a base that leaves flash.two_plane to its part";
    assert_eq!(read(&format!("{mine}[flash]\npart = \"new-chip\""), &[]), other);
    assert_eq!(read(mine, &[("flash.part", "new-chip")]), other, "as of the command line");
    let base_alone = base.replace("part = \"old-chip\"\n", "");
    let layers = [("flash/new-chip.toml", part), ("old.toml", base_alone.as_str())];
    let layers = layers.map(|(origin, text)| Layer { text, origin });
    let error = Model::parse_layers(&layers, &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("old.toml: flash.part = \"new-chip\": must be a part that leaves out"),
        "{error}"
    );
}

#[test]
fn an_array_adds_its_members_up() {
    let model = pair("", &[]).unwrap();
    let description = Drive::describe(&model);
    let derived = &description["derived"];
    assert_eq!(derived["raw_capacity_bytes"], 160u64 << 30);
    let smaller = (80u64 << 30) * 100 / 128 / 131_072 * 131_072;
    assert_eq!(derived["user_capacity_bytes"], 2 * smaller, "whole strips of the smaller, twice");
    assert_eq!((&derived["die_count"], &derived["member_count"]), (&80.into(), &2.into()));
    let rows = description["parameters"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["key"] == "members[1].spare_ratio" && row["value"] == 0.28));
    let drive = Drive::new(Arc::new(model), 1).unwrap();
    assert_eq!(drive.capacity_sectors() * 512, 2 * smaller);
    assert_eq!(drive.counters()["host_write_bytes"], 0);
}

#[test]
fn what_an_array_says_about_its_members_counts_for_each() {
    let plain = pair("", &[]).unwrap();
    let faster = pair("[member.flash]\ncommand_ns = 450\n", &[]).unwrap();
    let both = pair("[member.flash]\ncommand_ns = 450\n", &[("member.flash.read_ns", "25000")]).unwrap();
    let values = |model: &Model, key: &str| -> Vec<u64> {
        let value = |member: &Arc<Model>| {
            member.parameters().find(|(parameter, _)| parameter.key == key).unwrap().1.value.as_u64().unwrap()
        };
        model.members().iter().map(value).collect()
    };
    assert_eq!(values(&faster, "flash.command_ns"), [450, 450]);
    assert_eq!(values(&both, "flash.command_ns"), [450, 450]);
    assert_eq!(values(&both, "flash.read_ns"), [25_000, 25_000]);
    let rows = Drive::describe(&both)["parameters"].clone();
    assert!(rows.as_array().unwrap().iter().any(|row| row["key"] == "members[0].flash.command_ns"));
    assert_ne!(plain.hash(), faster.hash());
    assert_ne!(faster.hash(), both.hash());
    assert!(pair("", &[("member.flash.read_n", "1")]).unwrap_err().contains("unknown key flash.read_n"));
    assert!(pair("", &[("flash.read_ns", "1")]).unwrap_err().contains("does not apply to family raid-0"));
    assert!(set(&[("member.flash.read_ns", "1")]).unwrap_err().contains("unknown key member.flash.read_ns"));
    assert!(set(&[("members", "[\"one\"]")]).unwrap_err().contains("only to raid-0"));
    assert!(pair("", &[("members", "[]")]).unwrap_err().contains("at least one"));
    assert!(pair("", &[("members", "[\"one\"]")]).unwrap_err().contains("needs 1 models"));
    assert!(pair("", &[("array.strip_bytes", "1000")]).unwrap_err().contains("array.strip_bytes = 1000"));
}

#[test]
fn a_partition_is_all_that_the_host_sees() {
    let model = set(&[("partition_bytes", "64424509440")]).unwrap();
    let derived = Drive::describe(&model)["derived"].clone();
    assert_eq!(derived["user_capacity_bytes"], 60u64 << 30);
    assert_eq!(derived["drive_capacity_bytes"], 156_301_488u64 * 512);
    assert!((derived["spare_ratio"].as_f64().unwrap() - 80.0 / 60.0 + 1.0).abs() < 1e-9);
    assert_eq!(Drive::new(Arc::new(model), 1).unwrap().capacity_sectors(), 60 << 21);
    assert!(set(&[("partition_bytes", "1000000000000")]).unwrap_err().contains("the drive's capacity"));
    let pair = pair("", &[("partition_bytes", "1000000"), ("member.partition_bytes", "10000000")]).unwrap();
    assert_eq!(Drive::describe(&pair)["derived"]["drive_capacity_bytes"], 2 * 76 * 131_072);
}

#[test]
fn whole_numbers_may_have_a_point_or_an_exponent() {
    let plain = set(&[("flash.read_ns", "60000"), ("flash.channel_count", "20")]).unwrap();
    let others = set(&[("flash.read_ns", "6e4"), ("flash.channel_count", "2e1")]).unwrap();
    assert_eq!(plain.hash(), others.hash());
    assert_eq!(others.optional_integer("flash.read_ns"), Some(60_000));
}

#[test]
fn wrong_requests_name_key_value_and_limit() {
    let message = |pairs: &[(&str, &str)]| set(pairs).unwrap_err();
    assert_eq!(
        message(&[("flash.chanel_count", "3")]),
        "intel-x25-m-g1-80gb: unknown key flash.chanel_count (did you mean flash.channel_count?)"
    );
    assert_eq!(
        message(&[("victim_selection", "fifo")]),
        "intel-x25-m-g1-80gb: unknown key victim_selection (did you mean ftl.victim_selection?)"
    );
    assert_eq!(
        message(&[("spare", "0.28")]),
        "intel-x25-m-g1-80gb: unknown key spare (did you mean spare_ratio?)"
    );
    assert_eq!(
        message(&[("flash.channel_count", "0")]),
        "intel-x25-m-g1-80gb: flash.channel_count = 0: must be a whole number from 1 to 1024"
    );
    assert!(message(&[("flash.channel_count", "-1")]).contains("flash.channel_count = -1"));
    assert!(message(&[("flash.channel_count", "ten")]).contains("whole number"));
    assert!(
        message(&[("flash.channel_count", "1.5")]).contains("flash.channel_count = 1.5: must be a whole")
    );
    assert!(message(&[("flash.channel_count", "-1e300")]).contains("flash.channel_count = -1e300: must be"));
    assert!(message(&[("flash.read_ns", "nan")]).contains("flash.read_ns = nan: must be a whole number"));
    assert!(message(&[("spare_ratio", "nan")]).contains("must be a number from 0 to 3"));
    assert!(message(&[("ftl.victim_selection", "gready")]).contains("one of greedy, fifo"));
    assert!(message(&[("ftl.placment", "hint")]).contains("did you mean ftl.placement?"));
    assert!(message(&[("ftl.superblocks", "6")]).contains("did you mean ftl.superblock_blocks?"));
    assert!(message(&[("ftl.placement", "hot")]).contains("one of one-stream, host-and-cleaning, hot-cold"));
    assert!(message(&[("ftl.hint_streams", "9")]).contains("must be a whole number from 1 to 8"));
    assert!(message(&[("user_capacity_bytes", "99999999999")]).contains("raw capacity, 85899345920 bytes"));
    assert!(
        message(&[("spare_ratio", "0")])
            .contains("intel-x25-m-g1-80gb: spare_ratio = 0: gives user_capacity_bytes")
    );
    assert!(message(&[("flash.blocks_per_plane", "1048576")]).contains("at most 16777216 erase blocks"));
    assert!(message(&[("flash.pages_per_block", "16384")]).contains("2^31"));
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

#[test]
fn a_cache_that_would_be_larger_than_it_says_is_refused() {
    let cached = |key: &str, bytes: u64| {
        let bytes = bytes.to_string();
        // A cache without a static part is smaller than one block on each die.
        let pairs = [("slc_cache.static_bytes", "0"), (key, &*bytes)];
        shipped::varied("samsung-980-pro-1tb", &pairs).map_err(|error| error.to_string())
    };
    let description = Drive::describe(&shipped("samsung-980-pro-1tb"));
    // Three bits a native cell, 16 dies.
    let block_bytes = description["derived"]["block_bytes"].as_u64().unwrap() / 3;
    for (key, least) in [("slc_cache.max_bytes", block_bytes), ("slc_cache.static_bytes", 16 * block_bytes)] {
        assert!(cached(key, least).is_ok(), "{key} = {least}");
        let error = cached(key, least - 1).unwrap_err();
        assert!(error.contains(&format!("{key} = {}: must be 0, or at least {least}", least - 1)), "{error}");
    }
    // All of it but a byte is static.
    let stated = description["parameters"].as_array().unwrap();
    let own =
        stated.iter().find(|row| row["key"] == "slc_cache.static_bytes").unwrap()["value"].as_u64().unwrap();
    let error = shipped::varied("samsung-980-pro-1tb", &[("slc_cache.max_bytes", &(own + 1).to_string())]);
    let error = error.map_err(|error| error.to_string()).unwrap_err();
    assert!(error.contains(&format!("at least {}", own + block_bytes)), "{error}");
}
