// What the Node clients' scripts share: a suite of named checks, the bodies to send, and the YAML
// of stats.
//
// Each check gets a fresh connection that uses and watches one fresh tube, the tube's name, and a
// function that opens one more such connection. The checks of one script run one after the other,
// so counters of `stats` can be compared.
'use strict';
const assert = require('assert');
const { execFileSync } = require('child_process');
const keys = require('./keys.json');

const host = '127.0.0.1';
const port = Number(process.env.XYLEM_PORT);

// Ends the server and starts it on the same port at once; the clients' sockets are still open then.
const restart = () => execFileSync(process.env.XYLEM_RESTART, ['restart'], { stdio: 'inherit' });

const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

const longest = Buffer.from(Array.from({ length: 65535 }, (_, i) => (i * 31 + (i >> 8)) % 256));
const bodies = {
  'empty': Buffer.alloc(0),
  'all 256 byte values': Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
  'a reply inside': Buffer.from('a\r\nRESERVED 1 3\r\n\r\nb\r\n'),
  'unicode': Buffer.from('Grüße, 世界 🌱'),
  '65535 bytes': longest,
};
const tooBig = Buffer.alloc(65536, 'x');

function equal(got, expected) {
  assert.deepStrictEqual(got, expected);
}

// `fields` of what the server said, and no others.
function has(got, fields) {
  equal(Object.fromEntries(Object.keys(fields).map((key) => [key, got[key]])), fields);
}

// All of `expected` are in the list; other checks' tubes may be there too.
function contains(list, expected) {
  equal(expected.filter((item) => !list.includes(item)), []);
}

// The promise fails, and the error's text names `word`.
async function fails(promise, word) {
  const error = await promise.then(() => undefined, (e) => e);
  assert(error, `expected ${word}, got success`);
  assert(`${error.message || error} ${error.status || ''}`.includes(word), `expected ${word}, got ${error}`);
}

// const took = stopwatch(); ...; took(1): since then 1 s has passed, not less, and more only as far
// as a busy machine makes it. It is started before the command that starts the server's clock.
function stopwatch() {
  const start = process.hrtime.bigint();
  return (seconds) => {
    const taken = Number(process.hrtime.bigint() - start) / 1e9;
    assert(taken > seconds - 0.005 && taken < seconds + 5, `expected ${seconds} s, took ${taken} s`);
  };
}

// The parsed YAML has beanstalkd's keys first, in its order, and each value is of its type.
// Debian's beanstalkd 1.12 leaves `os` bare, which reads as a YAML comment: null.
function checkKeys(kind, yaml) {
  equal(Object.keys(yaml).slice(0, keys[kind].length), keys[kind]);
  for (const key of keys[kind]) {
    if (!keys['not-numbers'].includes(key)) equal([key, typeof yaml[key]], [key, 'number']);
  }
  if (kind === 'stats') {
    equal([typeof yaml.version, typeof yaml.draining, typeof yaml.hostname], ['string', 'boolean', 'string']);
    assert.match(yaml.version, /^\d+\.\d+$/);
    assert(yaml.os === null || typeof yaml.os === 'string');
  }
}

// By how much the counters named in `expected` grew between two stats.
function grew(before, after, expected) {
  has(Object.fromEntries(Object.keys(expected).map((key) => [key, after[key] - before[key]])), expected);
}

// Runs the checks {name: async (client, tube, another) => ...}. `open(tube)` connects a client that
// uses and watches only that tube; `close(client)` ends it.
async function suite(library, { open, close }, checks) {
  const names = Object.keys(checks);
  let current;
  // A lost connection may leave a promise that nothing will keep: then node ends, and would call
  // that success.
  process.once('exit', () => {
    if (!current) return;
    console.error(`${library}: FAILED: ${current}: no reply came`);
    process.exitCode = 1;
  });
  for (const [index, name] of names.entries()) {
    current = name;
    const opened = [];
    const tube = `${library}-${index}`;
    const another = async () => {
      const client = await open(tube);
      opened.push(client);
      return client;
    };
    try {
      await checks[name](await another(), tube, another);
    } catch (error) {
      console.error(`${library}: FAILED: ${name}\n${error.stack}`);
      current = undefined;
      process.exit(1);
    }
    for (const client of opened) await close(client);
    console.log(`${library}: ${name}`);
  }
  console.log(`${library}: ${names.length} checks passed`);
  current = undefined;
  process.exit(0);
}

module.exports = {
  host, port, restart, sleep, bodies, tooBig, equal, has, contains, fails, stopwatch, checkKeys, grew, suite,
};
