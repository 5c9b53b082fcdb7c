// The npm package beanstalkd 2.2.5 against a server. Ids are numbers, bodies are Buffers, replies
// with more than one value are arrays, errors carry the reply's word as their text.
//
// It has no kick and no reserve-job; both are added with its own addCommand, as its README shows.
'use strict';
const { default: Beanstalkd } = require('beanstalkd');
const s = require('./support');

Beanstalkd.prototype.protocol.addCommand('reserve-job <id>\r\n');
Beanstalkd.addCommand('reserve-job', 'RESERVED');
Beanstalkd.addCommand('kick', 'KICKED');

async function open(tube) {
  const client = await new Beanstalkd(s.host, s.port).connect();
  await client.use(tube);
  await client.watch(tube);
  await client.ignore('default');
  return client;
}

const put = (client, body, { pri = 0, delay = 0, ttr = 60 } = {}) => client.put(pri, delay, ttr, body);
const state = async (client, id) => (await client.statsJob(id)).state;
const text = async (job) => (await job)[1].toString();

s.suite('beanstalkd', { open, close: (client) => client.quit() }, {
  'put, reserve, delete, destroy': async (client) => {
    const ids = [await put(client, 'a'), await put(client, 'b')];
    s.equal(await client.reserve(), [ids[0], Buffer.from('a')]);
    s.equal(await client.delete(ids[0]), undefined);
    s.equal(await client.destroy(ids[1]), undefined);
    await s.fails(client.delete(ids[1]), 'NOT_FOUND');
  },
  'bodies of any bytes, by reserve, peek and reserve-job': async (client) => {
    for (const body of Object.values(s.bodies)) {
      const id = await put(client, body);
      s.equal(await client.peek(id), [id, body]);
      s.equal(await client.reserve(), [id, body]);
      await client.release(id, 0, 0);
      s.equal(await client.reserveJob(id), [id, body]);
      await client.delete(id);
    }
  },
  'JOB_TOO_BIG, and the connection goes on': async (client) => {
    await s.fails(put(client, s.tooBig), 'JOB_TOO_BIG');
    await s.fails(put(client, Buffer.alloc(200000, 'x')), 'JOB_TOO_BIG');
    await put(client, 'small');
    s.equal(await text(client.reserve()), 'small');
  },
  'priorities order jobs, ids order equals': async (client) => {
    await put(client, 'third', { pri: 4294967295 });
    await put(client, 'second', { pri: 7 });
    await put(client, 'first', { pri: 0 });
    await put(client, 'second again', { pri: 7 });
    for (const body of ['first', 'second', 'second again', 'third']) s.equal(await text(client.reserve()), body);
  },
  'reserveWithTimeout 0 and 1': async (client) => {
    const took = s.stopwatch();
    await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
    took(0);
    await s.fails(client.reserveWithTimeout(1), 'TIMED_OUT');
    took(1);
    await put(client, 'now');
    s.equal(await text(client.reserveWithTimeout(0)), 'now');
  },
  'DEADLINE_SOON': async (client) => {
    const id = await put(client, 'short', { ttr: 1 });
    await client.reserve();
    await s.fails(client.reserve(), 'DEADLINE_SOON');
    await s.fails(client.reserveWithTimeout(0), 'DEADLINE_SOON');
    await client.delete(id);
    await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
  },
  'a ttr that runs out gives the job to another': async (client, tube, another) => {
    const other = await another();
    const took = s.stopwatch();
    const id = await put(client, 'slow', { ttr: 1 });
    await client.reserve();
    const theirs = other.reserveWithTimeout(5);
    await s.sleep(1100);
    // Debian's beanstalkd now and then forgets the ttr of a silent connection.
    await client.listTubeUsed();
    s.equal((await theirs)[0], id);
    took(1);
    await s.fails(client.delete(id), 'NOT_FOUND');
    s.equal((await other.statsJob(id)).timeouts, 1);
  },
  'a waiting reserve gets a job put later': async (client, tube, another) => {
    const waiting = text(client.reserve());
    const producer = await another();
    await s.sleep(50);
    s.equal((await producer.statsTube(tube))['current-waiting'], 1);
    await put(producer, 'at last');
    s.equal(await waiting, 'at last');
  },
  'put with a delay': async (client) => {
    const took = s.stopwatch();
    const id = await put(client, 'later', { delay: 1 });
    s.equal(await state(client, id), 'delayed');
    await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
    s.equal(await text(client.reserve()), 'later');
    took(1);
  },
  'release, with priority and delay': async (client) => {
    const id = await put(client, 'again');
    await client.reserve();
    await client.release(id, 5, 0);
    await client.reserve();
    await client.release(id, 9, 100);
    s.has(await client.statsJob(id), { state: 'delayed', pri: 9, delay: 100, releases: 2 });
    await s.fails(client.release(id, 0, 0), 'NOT_FOUND');
  },
  'bury, kickJob and the added kick': async (client) => {
    const ids = [await put(client, 'a'), await put(client, 'b'), await put(client, 'c', { delay: 100 })];
    for (const id of [ids[0], ids[1]]) {
      await client.reserve();
      await client.bury(id, 5);
    }
    s.has(await client.statsJob(ids[0]), { state: 'buried', pri: 5, buries: 1 });
    s.equal(await client.kick(1), 1);
    s.equal([await state(client, ids[0]), await state(client, ids[1])], ['ready', 'buried']);
    await client.kickJob(ids[1]);
    s.equal(await client.kick(10), 1);
    s.has(await client.statsJob(ids[2]), { state: 'ready', kicks: 1 });
    await s.fails(client.kickJob(ids[1]), 'NOT_FOUND');
    await s.fails(client.bury(ids[1], 0), 'NOT_FOUND');
  },
  'touch': async (client) => {
    const id = await put(client, 'touch me', { ttr: 3 });
    await client.reserve();
    await s.sleep(1100);
    s.equal((await client.statsJob(id))['time-left'], 1);
    await client.touch(id);
    s.equal((await client.statsJob(id))['time-left'], 2);
    await s.fails(client.touch(4000000000), 'NOT_FOUND');
  },
  'peek, peekReady, peekDelayed, peekBuried': async (client) => {
    for (const peek of ['peekReady', 'peekDelayed', 'peekBuried']) await s.fails(client[peek](), 'NOT_FOUND');
    const buried = await put(client, 'buried');
    await client.reserve();
    await client.bury(buried, 0);
    const ready = await put(client, 'ready');
    const delayed = await put(client, 'delayed', { delay: 100 });
    s.equal(await client.peekReady(), [ready, Buffer.from('ready')]);
    s.equal(await client.peekDelayed(), [delayed, Buffer.from('delayed')]);
    s.equal(await client.peekBuried(), [buried, Buffer.from('buried')]);
    await s.fails(client.peek(4000000000), 'NOT_FOUND');
  },
  'pauseTube holds jobs back until its time is over': async (client, tube) => {
    await put(client, 'held');
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
    s.equal([await client.use(a), await client.listTubeUsed()], [a, a]);
    s.equal([await client.watch(b), await client.watch(b), await client.watch('default')], [2, 2, 3]);
    s.equal(await client.listTubesWatched(), [tube, b, 'default']);
    s.contains(await client.listTubes(), ['default', tube, a, b]);
    s.equal([await client.ignore(b), await client.ignore('no-such-tube'), await client.ignore('default')], [2, 2, 1]);
    await s.fails(client.ignore(tube), 'NOT_IGNORED');
  },
  'stats, statsJob, statsTube': async (client, tube) => {
    const before = await client.stats();
    s.checkKeys('stats', before);
    const id = await put(client, 'counted', { pri: 3, ttr: 77 });
    const job = await client.statsJob(id);
    s.checkKeys('stats-job', job);
    s.has(job, { id, tube, state: 'ready', pri: 3, ttr: 77, delay: 0, reserves: 0 });
    await client.delete((await client.reserve())[0]);
    const stats = await client.statsTube(tube);
    s.checkKeys('stats-tube', stats);
    s.has(stats, { 'name': tube, 'total-jobs': 1, 'cmd-delete': 1, 'current-using': 1, 'current-watching': 1 });
    s.grew(before, await client.stats(), {
      'cmd-put': 1, 'cmd-reserve': 1, 'cmd-delete': 1, 'cmd-stats': 1, 'cmd-stats-job': 1, 'total-jobs': 1,
    });
    await s.fails(client.statsJob(id), 'NOT_FOUND');
    await s.fails(client.statsTube('no-such-tube'), 'NOT_FOUND');
  },
  'BAD_FORMAT for a bad tube name': async (client) => {
    await s.fails(client.use('-dash'), 'BAD_FORMAT');
    await s.fails(client.watch('with space'), 'BAD_FORMAT');
  },
  'commands called together are answered in order': async (client) => {
    const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => put(client, `job ${i}`)));
    s.equal(ids, ids.map((_, i) => ids[0] + i));
    await Promise.all(ids.map((id) => client.delete(id)));
  },
  'several connections share a tube': async (client, tube, another) => {
    const workers = [await another(), await another(), await another()];
    const done = Promise.all(workers.map((worker) => text(worker.reserve())));
    for (const body of ['1', '2', '3']) await put(client, body);
    s.equal((await done).sort(), ['1', '2', '3']);
  },
  'quit gives a reserved job back': async (client, tube, another) => {
    const other = await another();
    await put(client, 'mine');
    await other.reserve();
    await other.quit();
    s.equal(await text(client.reserve()), 'mine');
    await s.fails(other.reserve(), 'closed');
  },
  'a restart ends a waiting reserve; then connect again': async (client, tube) => {
    const ended = new Promise((done) => client.on('close', done));
    const waiting = s.fails(client.reserve(), 'CONNECTION_CLOSED');
    await s.sleep(50);
    s.restart();
    await Promise.all([waiting, ended]);
    await client.connect();
    s.equal([await client.use(tube), await client.watch(tube)], [tube, 2]);
    await put(client, 'after');
    s.equal(await text(client.reserve()), 'after');
  },
});
