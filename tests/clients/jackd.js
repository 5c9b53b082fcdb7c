// jackd 2.2.2 against a server. Ids are strings, bodies are Buffers, errors carry the reply as
// their text, and YAML is handed over as text: js-yaml of the other libraries reads it here.
//
// Three of its own faults are worked around without changing it: put turns a Buffer into JSON (so
// bytes go through createCommandHandler), pauseTube forgets the end of its line, and a reserved
// job's reply must be the last in flight.
'use strict';
const yaml = require('js-yaml');
const Jackd = require('jackd');
const s = require('./support');

async function open(tube) {
  const client = new Jackd();
  await client.connect({ host: s.host, port: s.port });
  await client.use(tube);
  await client.watch(tube);
  await client.ignore('default');
  return client;
}

function putBytes(client, body) {
  const line = () => Buffer.concat([Buffer.from(`put 0 0 60 ${body.length}\r\n`), body, Buffer.from('\r\n')]);
  return client.createCommandHandler(line, [async (reply) => {
    if (!reply.toString().startsWith('INSERTED')) throw new Error(reply.toString());
    return reply.toString().split(' ')[1];
  }])();
}

async function pauseTube(client, tube, options) {
  const paused = client.pauseTube(tube, options);
  await client.write(Buffer.from('\r\n'));
  return paused;
}

const state = async (client, id) => yaml.load(await client.statsJob(id)).state;
const text = async (job) => (await job).payload.toString();

s.suite('jackd', { open, close: (client) => client.disconnect() }, {
  'put, reserve, delete a string': async (client) => {
    const id = await client.put('hello');
    s.equal(await client.reserve(), { id, payload: Buffer.from('hello') });
    s.equal(await client.delete(id), undefined);
    await s.fails(client.delete(id), 'NOT_FOUND');
  },
  'put an object as JSON': async (client) => {
    await client.put({ fruit: 'Äpfel', count: 3 });
    s.equal(JSON.parse(await text(client.reserve())), { fruit: 'Äpfel', count: 3 });
  },
  'bodies of any bytes, by reserve, peek and reserveJob': async (client) => {
    for (const body of Object.values(s.bodies)) {
      const id = await putBytes(client, body);
      s.equal(await client.peek(id), { id, payload: body });
      s.equal(await client.reserve(), { id, payload: body });
      await client.release(id);
      s.equal(await client.reserveJob(id), { id, payload: body });
      await client.delete(id);
    }
  },
  'put of unicode text': async (client) => {
    await client.put(s.bodies.unicode.toString());
    s.equal(await text(client.reserve()), s.bodies.unicode.toString());
  },
  'useLegacyStringPayloads': async (client, tube) => {
    const legacy = new Jackd({ useLegacyStringPayloads: true });
    await legacy.connect({ host: s.host, port: s.port });
    await legacy.watch(tube);
    const id = await client.put('plain');
    s.equal(await legacy.reserve(), { id, payload: 'plain' });
    await legacy.delete(id);
    await legacy.close();
  },
  'JOB_TOO_BIG, and the connection goes on': async (client) => {
    await s.fails(client.put(s.tooBig.toString()), 'JOB_TOO_BIG');
    await s.fails(client.put('x'.repeat(200000)), 'JOB_TOO_BIG');
    await client.put('small');
    s.equal(await text(client.reserve()), 'small');
  },
  'priorities order jobs, ids order equals': async (client) => {
    await client.put('third', { priority: 4294967295 });
    await client.put('second', { priority: 7 });
    await client.put('first', { priority: 0 });
    await client.put('second again', { priority: 7 });
    for (const body of ['first', 'second', 'second again', 'third']) s.equal(await text(client.reserve()), body);
  },
  'reserveWithTimeout 0 and 1 time out': async (client) => {
    const took = s.stopwatch();
    await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
    took(0);
    await s.fails(client.reserveWithTimeout(1), 'TIMED_OUT');
    took(1);
  },
  'reserveWithTimeout takes a ready job': async (client) => {
    const id = await client.put('now');
    s.equal(await client.reserveWithTimeout(0), { id, payload: Buffer.from('now') });
  },
  'DEADLINE_SOON for reserve and reserveWithTimeout': async (client) => {
    const id = await client.put('short', { ttr: 1 });
    await client.reserve();
    await s.fails(client.reserve(), 'DEADLINE_SOON');
    await s.fails(client.reserveWithTimeout(0), 'DEADLINE_SOON');
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
    s.equal(yaml.load(await other.statsJob(id)).timeouts, 1);
  },
  'a waiting reserve gets a job put later': async (client, tube, another) => {
    const waiting = text(client.reserve());
    const producer = await another();
    await s.sleep(50);
    s.equal(yaml.load(await producer.statsTube(tube))['current-waiting'], 1);
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
    await client.release(id);
    await client.reserve();
    await client.release(id, { priority: 9, delay: 100 });
    s.has(yaml.load(await client.statsJob(id)), { state: 'delayed', pri: 9, delay: 100, releases: 2 });
    await s.fails(client.release(id), 'NOT_FOUND');
  },
  'bury, kick and kickJob': async (client) => {
    const ids = [await client.put('a'), await client.put('b'), await client.put('c', { delay: 100 })];
    for (const id of [ids[0], ids[1]]) {
      await client.reserve();
      await client.bury(id, 5);
    }
    s.has(yaml.load(await client.statsJob(ids[0])), { state: 'buried', pri: 5, buries: 1 });
    s.equal(await client.kick(1), 1);
    s.equal([await state(client, ids[0]), await state(client, ids[1])], ['ready', 'buried']);
    await client.kickJob(ids[1]);
    s.equal(await client.kick(10), 1);
    s.has(yaml.load(await client.statsJob(ids[2])), { state: 'ready', kicks: 1 });
    await s.fails(client.kickJob(ids[1]), 'NOT_FOUND');
    await s.fails(client.bury(ids[1], 0), 'NOT_FOUND');
  },
  'touch': async (client) => {
    const id = await client.put('touch me', { ttr: 3 });
    await client.reserve();
    await s.sleep(1100);
    s.equal(yaml.load(await client.statsJob(id))['time-left'], 1);
    await client.touch(id);
    s.equal(yaml.load(await client.statsJob(id))['time-left'], 2);
    await s.fails(client.touch('4000000000'), 'NOT_FOUND');
  },
  'reserveJob of a delayed, a buried and a reserved job': async (client) => {
    const id = await client.put('pick', { delay: 100 });
    s.equal(await text(client.reserveJob(id)), 'pick');
    await client.bury(id, 0);
    s.equal(await text(client.reserveJob(id)), 'pick');
    await s.fails(client.reserveJob(id), 'NOT_FOUND');
  },
  'peek, peekReady, peekDelayed, peekBuried': async (client) => {
    for (const peek of ['peekReady', 'peekDelayed', 'peekBuried']) await s.fails(client[peek](), 'NOT_FOUND');
    const buried = await client.put('buried');
    await client.reserve();
    await client.bury(buried, 0);
    const ready = await client.put('ready');
    const delayed = await client.put('delayed', { delay: 100 });
    s.equal(await client.peekReady(), { id: ready, payload: Buffer.from('ready') });
    s.equal(await client.peekDelayed(), { id: delayed, payload: Buffer.from('delayed') });
    s.equal(await client.peekBuried(), { id: buried, payload: Buffer.from('buried') });
    await s.fails(client.peek('4000000000'), 'NOT_FOUND');
  },
  'pauseTube holds jobs back until its time is over': async (client, tube) => {
    await client.put('held');
    const took = s.stopwatch();
    await pauseTube(client, tube, { delay: 1 });
    s.has(yaml.load(await client.statsTube(tube)), { pause: 1, 'cmd-pause-tube': 1 });
    await s.fails(client.reserveWithTimeout(0), 'TIMED_OUT');
    s.equal(await text(client.reserve()), 'held');
    took(1);
    await s.fails(pauseTube(client, 'no-such-tube'), 'NOT_FOUND');
  },
  'use, watch, ignore and the lists of tubes': async (client, tube) => {
    const a = `${tube}/a`;
    const b = `${tube}.b`;
    s.equal(await client.use(a), a);
    s.equal([await client.getCurrentTube(), await client.listTubeUsed()], [a, a]);
    s.equal([await client.watch(b), await client.watch(b), await client.watch('default')], [2, 2, 3]);
    s.equal(yaml.load(await client.listTubesWatched()), [tube, b, 'default']);
    s.contains(yaml.load(await client.listTubes()), ['default', tube, a, b]);
    s.equal([await client.ignore(b), await client.ignore('no-such-tube'), await client.ignore('default')], [2, 2, 1]);
    await s.fails(client.ignore(tube), 'NOT_IGNORED');
  },
  'stats': async (client) => {
    const before = yaml.load(await client.stats());
    s.checkKeys('stats', before);
    await client.put('counted');
    await client.delete((await client.reserve()).id);
    const after = yaml.load(await client.stats());
    s.grew(before, after, { 'cmd-put': 1, 'cmd-reserve': 1, 'cmd-delete': 1, 'cmd-stats': 1, 'total-jobs': 1 });
    s.has(after, { 'max-job-size': 65535, 'current-jobs-reserved': before['current-jobs-reserved'] });
  },
  'statsJob and statsTube': async (client, tube) => {
    const id = await client.put('look', { priority: 3, ttr: 77 });
    const job = yaml.load(await client.statsJob(id));
    s.checkKeys('stats-job', job);
    s.has(job, { id: Number(id), tube, state: 'ready', pri: 3, ttr: 77, delay: 0, reserves: 0 });
    const stats = yaml.load(await client.statsTube(tube));
    s.checkKeys('stats-tube', stats);
    s.has(stats, { name: tube, 'current-jobs-urgent': 1, 'total-jobs': 1, 'current-using': 1, 'current-watching': 1 });
  },
  'commands in flight together are answered in order': async (client) => {
    const ids = await Promise.all(Array.from({ length: 200 }, (_, i) => client.put(`job ${i}`)));
    s.equal(ids, ids.map((_, i) => String(Number(ids[0]) + i)));
    await Promise.all(ids.map((id) => client.delete(id)));
  },
  'BAD_FORMAT for a bad tube name': async (client) => {
    await s.fails(client.use('-dash'), 'BAD_FORMAT');
    await s.fails(client.watch('with space'), 'BAD_FORMAT');
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
  'reconnect after a restart of the server': async (client, tube) => {
    const ended = new Promise((done) => client.socket.once('close', done));
    s.restart();
    await ended;
    s.equal(client.isConnected(), false);
    await client.connect({ host: s.host, port: s.port });
    s.equal([await client.use(tube), await client.watch(tube)], [tube, 2]);
    await client.put('after');
    s.equal(await text(client.reserve()), 'after');
  },
});
