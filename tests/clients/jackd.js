// jackd 2.2.2 against a server. Ids are strings, bodies are Buffers, errors carry the reply as
// their text, and YAML is handed over as text: js-yaml of the other libraries reads it here.
//
// Three of its own faults are worked around without changing it: put turns a Buffer into JSON (so
// bytes go through createCommandHandler), pauseTube forgets the end of its line, and a reserved
// job's reply must be the last in flight.
'use strict';
const yaml = require('js-yaml');
const Jackd = require('jackd');
const { Adapter, checks, text, watchOnly } = require('./common');
const s = require('./support');

const server = { host: s.host, port: s.port };

class Library extends Adapter {
  job({ id, payload }) { return { id, body: payload }; }

  parsed(text) { return yaml.load(text); }

  put(body, { pri = 0, delay = 0, ttr = 60 } = {}) {
    return Buffer.isBuffer(body) ? this.putBytes(body) : this.client.put(body, { priority: pri, delay, ttr });
  }

  putBytes(body) {
    const line = () => Buffer.concat([Buffer.from(`put 0 0 60 ${body.length}\r\n`), body, Buffer.from('\r\n')]);
    return this.client.createCommandHandler(line, [async (reply) => {
      if (!reply.toString().startsWith('INSERTED')) throw new Error(reply.toString());
      return reply.toString().split(' ')[1];
    }])();
  }

  release(id, priority, delay) { return this.client.release(id, { priority, delay }); }

  async pauseTube(tube, delay) {
    const paused = this.client.pauseTube(tube, { delay });
    await this.client.write(Buffer.from('\r\n'));
    return paused;
  }

  quit() { return this.client.quit(); }
}

async function open(tube) {
  const client = new Jackd();
  await client.connect(server);
  return watchOnly(new Library(client), tube);
}

s.suite('jackd', { open, close: (adapter) => adapter.client.disconnect() }, {
  ...checks(),
  'put, release and bury without options; delete gives nothing': async ({ client }) => {
    const id = await client.put('hello');
    s.equal(await client.reserve(), { id, payload: Buffer.from('hello') });
    await client.release(id);
    await client.reserve();
    s.equal(await client.delete(id), undefined);
    await s.fails(client.release(id), 'NOT_FOUND');
  },
  'put an object as JSON, and unicode text': async (adapter) => {
    await adapter.client.put({ fruit: 'Äpfel', count: 3 });
    s.equal(JSON.parse(await text(adapter.reserve())), { fruit: 'Äpfel', count: 3 });
    await adapter.client.put(s.bodies.unicode.toString());
    s.equal(await text(adapter.reserve()), s.bodies.unicode.toString());
  },
  'useLegacyStringPayloads': async (adapter, tube) => {
    const legacy = new Jackd({ useLegacyStringPayloads: true });
    await legacy.connect(server);
    await legacy.watch(tube);
    const id = await adapter.client.put('plain');
    s.equal(await legacy.reserve(), { id, payload: 'plain' });
    await legacy.delete(id);
    await legacy.close();
  },
  'the tube that is used, and BAD_FORMAT for a bad name': async ({ client }, tube) => {
    s.equal(await client.getCurrentTube(), tube);
    await s.fails(client.watch('with space'), 'BAD_FORMAT');
  },
  'reconnect after a restart of the server': async (adapter, tube) => {
    const { client } = adapter;
    const ended = new Promise((done) => client.socket.once('close', done));
    s.restart();
    await ended;
    s.equal(client.isConnected(), false);
    await client.connect(server);
    s.equal([await client.use(tube), await client.watch(tube)], [tube, 2]);
    await adapter.put('after');
    s.equal(await text(adapter.reserve()), 'after');
  },
});
