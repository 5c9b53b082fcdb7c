// What every library for Node is put through, over an Adapter that makes its methods alike: those of
// the protocol in camel case, a job as {id, body}, ids as the library has them, statistics parsed,
// and a reply that is not the hoped for one as an Error that names its word.
'use strict';
const s = require('./support');

const JOBS = ['reserve', 'reserveWithTimeout', 'reserveJob', 'peek', 'peekReady', 'peekDelayed', 'peekBuried'];
const PARSED = ['stats', 'statsJob', 'statsTube', 'listTubes', 'listTubesWatched'];
const PLAIN = ['delete', 'release', 'bury', 'touch', 'kick', 'kickJob', 'use', 'watch', 'ignore', 'listTubeUsed', 'pauseTube'];

// A library's own says where it differs: job, parsed, refused, ask, or a whole method. Each has
// put(body, {pri, delay, ttr}) and quit().
class Adapter {
  constructor(client) { this.client = client; }

  job([id, body]) { return { id, body }; }

  parsed(yaml) { return yaml; }

  // The word that a value stands for, if the library does not throw.
  refused() { return undefined; }

  async ask(name, args) {
    const value = await this.client[name](...args);
    const word = this.refused(name, value);
    if (word) throw new Error(word);
    return value;
  }
}
const define = (names, act) => {
  for (const name of names) Adapter.prototype[name] = function (...args) { return act(this, name, args); };
};
define(JOBS, async (adapter, name, args) => adapter.job(await adapter.ask(name, args)));
define(PARSED, async (adapter, name, args) => adapter.parsed(await adapter.ask(name, args)));
define(PLAIN, (adapter, name, args) => adapter.ask(name, args));

async function watchOnly(adapter, tube) {
  await adapter.use(tube);
  await adapter.watch(tube);
  await adapter.ignore('default');
  return adapter;
}

const state = async (client, id) => (await client.statsJob(id)).state;
const text = async (job) => (await job).body.toString();

// `words`: how the library names a reply that it translates. `canReserveJob`: not all can.
const checks = ({ words = {}, canReserveJob = true } = {}) => {
  const word = (reply) => words[reply] || reply;
  const list = {
    'put, reserve, delete': async (client) => {
      const id = await client.put('hello');
      s.equal(await client.reserve(), { id, body: Buffer.from('hello') });
      await client.delete(id);
      await s.fails(client.delete(id), 'NOT_FOUND');
    },
    'bodies of any bytes, by reserve and peek': async (client) => {
      for (const body of Object.values(s.bodies)) {
        const id = await client.put(body);
        s.equal(await client.peek(id), { id, body });
        s.equal(await client.reserve(), { id, body });
        await client.delete(id);
      }
    },
    'JOB_TOO_BIG, and the connection goes on': async (client) => {
      await s.fails(client.put(s.tooBig.toString()), word('JOB_TOO_BIG'));
      await s.fails(client.put('x'.repeat(200000)), word('JOB_TOO_BIG'));
      await client.put('small');
      s.equal(await text(client.reserve()), 'small');
    },
    'priorities order jobs, ids order equals': async (client) => {
      await client.put('third', { pri: 4294967295 });
      await client.put('second', { pri: 7 });
      await client.put('first', { pri: 0 });
      await client.put('second again', { pri: 7 });
      for (const body of ['first', 'second', 'second again', 'third']) s.equal(await text(client.reserve()), body);
    },
    'reserve-with-timeout 0 and 1': async (client) => {
      const took = s.stopwatch();
      await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
      took(0);
      await s.fails(client.reserveWithTimeout(1), 'TIMED_OUT');
      took(1);
      await client.put('now');
      s.equal(await text(client.reserveWithTimeout(0)), 'now');
    },
    'DEADLINE_SOON': async (client) => {
      const id = await client.put('short', { ttr: 1 });
      await client.reserve();
      await s.fails(client.reserve(), word('DEADLINE_SOON'));
      await s.fails(client.reserveWithTimeout(0), word('DEADLINE_SOON'));
      await client.delete(id);
      await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
    },
    'a ttr that runs out gives the job to another': async (client, tube, another) => {
      const other = await another();
      const took = s.stopwatch();
      const id = await client.put('slow', { ttr: 1 });
      await client.reserve();
      const theirs = other.reserveWithTimeout(5);
      await s.sleep(1100);
      // Debian's beanstalkd now and then forgets the ttr of a silent connection.
      await client.listTubeUsed();
      s.equal((await theirs).id, id);
      took(1);
      await s.fails(client.delete(id), 'NOT_FOUND');
      s.equal((await other.statsJob(id)).timeouts, 1);
    },
    'a waiting reserve gets a job put later': async (client, tube, another) => {
      const waiting = text(client.reserve());
      const producer = await another();
      await s.sleep(50);
      s.equal((await producer.statsTube(tube))['current-waiting'], 1);
      await producer.put('at last');
      s.equal(await waiting, 'at last');
    },
    'put with a delay': async (client) => {
      const took = s.stopwatch();
      const id = await client.put('later', { delay: 1 });
      s.equal(await state(client, id), 'delayed');
      await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
      s.equal(await text(client.reserve()), 'later');
      took(1);
    },
    'release, with priority and delay': async (client) => {
      const id = await client.put('again');
      await client.reserve();
      await client.release(id, 5, 0);
      await client.reserve();
      await client.release(id, 9, 100);
      s.has(await client.statsJob(id), { state: 'delayed', pri: 9, delay: 100, releases: 2 });
      await s.fails(client.release(id, 0, 0), 'NOT_FOUND');
    },
    'bury, kick and kick-job': async (client) => {
      const ids = [await client.put('a'), await client.put('b'), await client.put('c', { delay: 100 })];
      for (const id of [ids[0], ids[1]]) {
        await client.reserve();
        await client.bury(id, 5);
      }
      s.has(await client.statsJob(ids[0]), { state: 'buried', pri: 5, buries: 1 });
      s.equal(Number(await client.kick(1)), 1);
      s.equal([await state(client, ids[0]), await state(client, ids[1])], ['ready', 'buried']);
      await client.kickJob(ids[1]);
      s.equal([Number(await client.kick(10)), Number(await client.kick(10))], [1, 0]);
      s.has(await client.statsJob(ids[2]), { state: 'ready', kicks: 1 });
      await s.fails(client.kickJob(ids[1]), 'NOT_FOUND');
      await s.fails(client.bury(ids[1], 0), 'NOT_FOUND');
    },
    'touch': async (client) => {
      const id = await client.put('touch me', { ttr: 3 });
      await client.reserve();
      await s.sleep(1100);
      s.equal((await client.statsJob(id))['time-left'], 1);
      await client.touch(id);
      s.equal((await client.statsJob(id))['time-left'], 2);
      await s.fails(client.touch(4000000000), 'NOT_FOUND');
    },
    'peek, peek-ready, peek-delayed, peek-buried': async (client) => {
      for (const peek of ['peekReady', 'peekDelayed', 'peekBuried']) await s.fails(client[peek](), 'NOT_FOUND');
      const buried = await client.put('buried');
      await client.reserve();
      await client.bury(buried, 0);
      const ready = await client.put('ready');
      const delayed = await client.put('delayed', { delay: 100 });
      s.equal(await client.peekReady(), { id: ready, body: Buffer.from('ready') });
      s.equal(await client.peekDelayed(), { id: delayed, body: Buffer.from('delayed') });
      s.equal(await client.peekBuried(), { id: buried, body: Buffer.from('buried') });
      await s.fails(client.peek(4000000000), 'NOT_FOUND');
    },
    'pause-tube holds jobs back until its time is over': async (client, tube) => {
      await client.put('held');
      const took = s.stopwatch();
      await client.pauseTube(tube, 1);
      s.has(await client.statsTube(tube), { 'pause': 1, 'cmd-pause-tube': 1 });
      await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
      s.equal(await text(client.reserve()), 'held');
      took(1);
      await s.fails(client.pauseTube('no-such-tube', 0), 'NOT_FOUND');
    },
    'use, watch, ignore and the lists of tubes': async (client, tube) => {
      const a = `${tube}/a`;
      const b = `${tube}.b`;
      const counts = async (command, tubes) => {
        const all = [];
        for (const each of tubes) all.push(Number(await client[command](each)));
        return all;
      };
      s.equal([await client.use(a), await client.listTubeUsed()], [a, a]);
      s.equal(await counts('watch', [b, b, 'default']), [2, 2, 3]);
      s.equal(await client.listTubesWatched(), [tube, b, 'default']);
      s.contains(await client.listTubes(), ['default', tube, a, b]);
      s.equal(await counts('ignore', [b, 'no-such-tube', 'default']), [2, 2, 1]);
      await s.fails(client.ignore(tube), 'NOT_IGNORED');
      await s.fails(client.use('-dash'), 'BAD_FORMAT');
    },
    'stats, stats-job, stats-tube': async (client, tube) => {
      const before = await client.stats();
      s.checkKeys('stats', before);
      const id = await client.put('counted', { pri: 3, ttr: 77 });
      const job = await client.statsJob(id);
      s.checkKeys('stats-job', job);
      s.has(job, { id: Number(id), tube, state: 'ready', pri: 3, ttr: 77, delay: 0, reserves: 0 });
      s.equal((await client.statsTube(tube))['current-jobs-urgent'], 1);
      await client.delete((await client.reserve()).id);
      const stats = await client.statsTube(tube);
      s.checkKeys('stats-tube', stats);
      s.has(stats, { 'name': tube, 'total-jobs': 1, 'cmd-delete': 1, 'current-using': 1, 'current-watching': 1 });
      const after = await client.stats();
      s.grew(before, after, {
        'cmd-put': 1, 'cmd-reserve': 1, 'cmd-delete': 1, 'cmd-stats': 1, 'cmd-stats-job': 1, 'total-jobs': 1,
      });
      s.has(after, { 'max-job-size': 65535, 'current-jobs-reserved': before['current-jobs-reserved'] });
      await s.fails(client.statsJob(id), 'NOT_FOUND');
      await s.fails(client.statsTube('no-such-tube'), 'NOT_FOUND');
    },
    'commands in flight together are answered in order': async (client) => {
      const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => client.put(`job ${i}`)));
      s.equal(ids.map(Number), ids.map((_, i) => Number(ids[0]) + i));
      await Promise.all(ids.map((id) => client.delete(id)));
    },
    'several connections share a tube': async (client, tube, another) => {
      const workers = [await another(), await another(), await another()];
      const done = Promise.all(workers.map((worker) => text(worker.reserve())));
      for (const body of ['1', '2', '3']) await client.put(body);
      s.equal((await done).sort(), ['1', '2', '3']);
    },
    'quit gives a reserved job back': async (client, tube, another) => {
      const other = await another();
      await client.put('mine');
      await other.reserve();
      await other.quit();
      s.equal(await text(client.reserve()), 'mine');
    },
  };
  if (!canReserveJob) return list;
  return {
    ...list,
    'reserve-job of a ready, a delayed, a buried and a reserved job': async (client) => {
      for (const body of Object.values(s.bodies)) {
        const id = await client.put(body);
        s.equal(await client.reserveJob(id), { id, body });
        await client.delete(id);
      }
      const id = await client.put('pick', { delay: 100 });
      s.equal(await text(client.reserveJob(id)), 'pick');
      await client.bury(id, 0);
      s.equal(await text(client.reserveJob(id)), 'pick');
      await s.fails(client.reserveJob(id), 'NOT_FOUND');
    },
  };
};

module.exports = { Adapter, checks, watchOnly, state, text };
