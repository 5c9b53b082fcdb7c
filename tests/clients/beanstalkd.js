// The npm package beanstalkd 2.2.5 against a server. Ids are numbers, bodies are Buffers, replies
// with more than one value are arrays, errors carry the reply's word as their text.
//
// It has no kick and no reserve-job; both are added with its own addCommand, as its README shows.
'use strict';
const { default: Beanstalkd } = require('beanstalkd');
const { Adapter, checks, text, watchOnly } = require('./common');
const s = require('./support');

Beanstalkd.prototype.protocol.addCommand('reserve-job <id>\r\n');
Beanstalkd.addCommand('reserve-job', 'RESERVED');
Beanstalkd.addCommand('kick', 'KICKED');

class Library extends Adapter {
  put(body, { pri = 0, delay = 0, ttr = 60 } = {}) { return this.client.put(pri, delay, ttr, body); }

  quit() { return this.client.quit(); }
}

const open = async (tube) => watchOnly(new Library(await new Beanstalkd(s.host, s.port).connect()), tube);

s.suite('beanstalkd', { open, close: (adapter) => adapter.quit() }, {
  ...checks(),
  'delete and destroy give nothing': async (adapter) => {
    const ids = [await adapter.put('a'), await adapter.put('b')];
    s.equal([await adapter.client.delete(ids[0]), await adapter.client.destroy(ids[1])], [undefined, undefined]);
    await s.fails(adapter.client.destroy(ids[1]), 'NOT_FOUND');
  },
  'BAD_FORMAT for a bad tube name': async (adapter) => {
    await s.fails(adapter.watch('with space'), 'BAD_FORMAT');
  },
  'a client that quit is closed': async (adapter, tube, another) => {
    const other = await another();
    await other.quit();
    await s.fails(other.reserve(), 'closed');
  },
  'a restart ends a waiting reserve; then connect again': async (adapter, tube) => {
    const ended = new Promise((done) => adapter.client.on('close', done));
    const waiting = s.fails(adapter.reserve(), 'CONNECTION_CLOSED');
    await s.sleep(50);
    s.restart();
    await Promise.all([waiting, ended]);
    await adapter.client.connect();
    s.equal([await adapter.use(tube), await adapter.watch(tube)], [tube, 2]);
    await adapter.put('after');
    s.equal(await text(adapter.reserve()), 'after');
  },
});
