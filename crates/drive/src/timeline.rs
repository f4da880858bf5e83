//! What dies and buses of a drive did when, as columns.

use drivelab_controller::{Recording, Scheduled, SolidStateDrive, Work};
use drivelab_sim::Nanos;

use crate::by_kind;
use crate::engine::Engine;

/// Operations of dies as columns of one length; in the order in which they were reserved.
#[derive(Clone, Debug, Default)]
pub struct TimelineColumns {
    /// The array's member; 0 of a single drive.
    pub member: Vec<u32>,
    /// Die of the member.
    pub die: Vec<u32>,
    /// Channel that leads to it.
    pub channel: Vec<u32>,
    /// 0 read, 1 program, 2 erase.
    pub work: Vec<u8>,
    /// 1: for cleaning, or for wear levelling.
    pub cleaning: Vec<u8>,
    /// The die is busy from here on.
    pub begin_ns: Vec<Nanos>,
    /// Its bus is taken from here on.
    pub bus_begin_ns: Vec<Nanos>,
    /// The bus is free again.
    pub bus_end_ns: Vec<Nanos>,
    /// The die is free again.
    pub end_ns: Vec<Nanos>,
    /// Operations that found no room.
    pub left_out: u64,
}

impl Engine {
    /// Notes from now on what dies and buses do: what begins from `from_ns` on and before `until_ns`, the first `most` of
    /// each member. A hard disk has none.
    pub fn record_timeline(&mut self, from_ns: Nanos, until_ns: Nanos, most: usize) {
        let recording = Recording::new(from_ns, until_ns, most);
        by_kind!(self,
        flash => flash.record_flash(recording),
        _disk => {},
        array => for member in array.members_mut() {
            member.device_mut().record_timeline(from_ns, until_ns, most);
        });
    }

    /// What has been noted; nothing is from now on.
    pub fn take_timeline(&mut self) -> TimelineColumns {
        let mut columns = TimelineColumns::default();
        self.add_timeline(&mut columns, &mut 0);
        columns
    }

    fn add_timeline(&mut self, columns: &mut TimelineColumns, member: &mut u32) {
        by_kind!(self,
            flash => columns.add(flash, *member),
            _disk => {},
            array => return array.members_mut().for_each(|part| part.device_mut().add_timeline(columns, member)));
        *member += 1;
    }
}

impl TimelineColumns {
    fn add<M: Scheduled>(&mut self, drive: &mut SolidStateDrive<M>, member: u32) {
        let Some(recording) = drive.take_recording() else { return };
        let layout = drive.mapping().layout();
        for stretch in &recording.stretches {
            self.member.push(member);
            self.die.push(stretch.die.0);
            self.channel.push(layout.channel_of(stretch.die));
            self.work.push(match stretch.work {
                Work::Read => 0,
                Work::Program => 1,
                Work::Erase => 2,
            });
            self.cleaning.push(u8::from(stretch.is_cleaning));
            self.begin_ns.push(stretch.begin_ns);
            self.bus_begin_ns.push(stretch.bus_begin_ns);
            self.bus_end_ns.push(stretch.bus_end_ns);
            self.end_ns.push(stretch.end_ns);
        }
        self.left_out += recording.left_out;
    }
}
