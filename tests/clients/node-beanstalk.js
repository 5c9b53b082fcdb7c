// node-beanstalk 1.6.7 against a server: its Client and its Pool. Ids are numbers; NOT_FOUND and
// TIMED_OUT are null or false; other errors throw with the reply's word as their status or text. By
// default bodies are JSON; a serializer of our own hands bytes through. The client refuses more
// than maxPayloadSize itself, so it is set beyond the server's.
'use strict';
const { Client, Pool } = require('node-beanstalk');
const { Adapter, checks, state, text, watchOnly } = require('./common');
const s = require('./support');

const asBytes = { serialize: (bytes) => Buffer.from(bytes), deserialize: (bytes) => bytes };
const options = { host: s.host, port: s.port, serializer: asBytes, maxPayloadSize: 1000000 };
const words = { JOB_TOO_BIG: 'max-job-size', DEADLINE_SOON: 'deadline soon' };
const wordOfNothing = { reserveWithTimeout: 'TIMED_OUT', ignore: 'NOT_IGNORED' };

class Library extends Adapter {
  job({ id, payload }) { return { id, body: payload }; }

  refused(name, value) {
    return value === null || value === false ? wordOfNothing[name] || 'NOT_FOUND' : undefined;
  }

  async put(body, { pri = 0, delay = 0, ttr = 60 } = {}) { return (await this.client.put(body, ttr, pri, delay)).id; }

  // It keeps the count to itself.
  async ignore(tube) {
    await this.ask('ignore', [tube]);
    return (await this.listTubesWatched()).length;
  }

  quit() { return this.client.disconnect(); }
}

async function connect(tube, some = options) {
  const client = new Client(some);
  await client.connect();
  return watchOnly(new Library(client), tube);
}
const open = (tube) => connect(tube);
const close = async ({ client }) => { if (client.isConnected) await client.disconnect(); };

s.suite('node-beanstalk', { open, close }, {
  ...checks({ words }),
  'what a put, a release, a bury and so on give': async ({ client }) => {
    const { id, state: inserted } = await client.put('hello');
    s.equal(inserted, 'ready');
    s.has(await client.statsJob(id), { pri: 1024, ttr: 30, delay: 0 });
    s.equal((await client.put('later', 60, 0, 100)).state, 'delayed');
    await client.reserve();
    s.equal([await client.release(id), await client.release(id)], ['ready', null]);
    await client.reserve();
    s.equal(await client.release(id, 9, 100), 'delayed');
    s.equal([await client.kickJob(id), await client.kickJob(id)], [true, false]);
    await client.reserve();
    s.equal([await client.touch(id), await client.bury(id), await client.bury(id)], [true, true, false]);
    s.equal([await client.ignore('default'), await client.delete(id), await client.delete(id)], [true, true, false]);
    s.equal([await client.touch(id), await client.peek(id), await client.reserveWithTimeout(0)], [false, null, null]);
  },
  'JSON bodies by the default serializer': async (adapter, tube) => {
    const { client: json } = await connect(tube, { host: s.host, port: s.port });
    for (const value of [{ fruit: 'Äpfel', list: [1, null] }, 'text', 0, null, '']) {
      const { id } = await json.put(value);
      s.equal(await json.reserve(), { id, payload: value });
      await json.delete(id);
    }
    await json.disconnect();
  },
  'a client that waits says so': async (adapter, tube, another) => {
    const waiting = text(adapter.reserve());
    const producer = await another();
    await s.sleep(50);
    s.equal([adapter.client.isWorking, adapter.client.queueSize], [true, 1]);
    await producer.put('at last');
    s.equal(await waiting, 'at last');
  },
  'connect again after a disconnect': async (adapter, tube, another) => {
    const other = await another();
    await other.quit();
    await other.client.connect();
    s.equal(await other.listTubesWatched(), ['default']);
  },
  'a Pool hands its connections out, takes them back, ends and is restored': async (adapter, tube) => {
    const pool = new Pool({ capacity: 2, clientOptions: options });
    const first = await pool.connect();
    const second = await pool.connect();
    const third = pool.connect();
    s.equal([pool.capacity, pool.idleCount, pool.waitingCount], [2, 0, 1]);
    await first.use(tube);
    await first.put('from the pool');
    first.releaseClient();
    s.equal(await (await third).listTubeUsed(), tube);
    second.releaseClient();
    s.equal([pool.idleCount, pool.waitingCount], [1, 0]);
    s.equal(await text(adapter.reserve()), 'from the pool');
    await pool.disconnect();
    s.equal(pool.getState(), 'disconnected');
    pool.restore();
    s.equal(await (await pool.connect()).listTubeUsed(), 'default');
    await pool.disconnect(true);
  },
  'reconnect after a restart of the server': async (adapter, tube) => {
    s.restart();
    await adapter.client.disconnect();
    await adapter.client.connect();
    await watchOnly(adapter, tube);
    const id = await adapter.put('after');
    s.equal(await state(adapter, id), 'ready');
    s.equal(await text(adapter.reserve()), 'after');
  },
});
