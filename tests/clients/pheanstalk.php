<?php
// pheanstalk 4.0.4 against a server, over each of its three kinds of socket. Bodies are strings of
// bytes; errors are classes, TIMED_OUT and NOT_FOUND of the peeks are null; its YAML parser leaves
// all values as text. It has no reserve-job.

use Pheanstalk\Connection;
use Pheanstalk\Exception;
use Pheanstalk\JobId;
use Pheanstalk\Pheanstalk;
use Pheanstalk\SocketFactory;

require 'Pheanstalk/autoload.php';
require 'support.php';

$kinds = [
    'socket' => SocketFactory::SOCKET,
    'stream' => SocketFactory::STREAM,
    'fsockopen' => SocketFactory::FSOCKOPEN,
];

function connect(string $tube, int $kind = SocketFactory::AUTODETECT): Pheanstalk
{
    $client = Pheanstalk::createWithFactory(new SocketFactory('127.0.0.1', PORT, 10, $kind));
    return $client->useTube($tube)->watchOnly($tube);
}

function state(Pheanstalk $client, $job): string
{
    return $client->statsJob($job)['state'];
}

$checks = [];

$checks['put, reserve, delete'] = function (string $tube) {
    $client = connect($tube);
    $put = $client->put('hello');
    has($client->statsJob($put), ['state' => 'ready', 'pri' => 1024, 'delay' => 0, 'ttr' => 60]);
    $job = $client->reserve();
    equal([$job->getId(), $job->getData()], [$put->getId(), 'hello']);
    $client->delete($job);
    fails(Exception\JobNotFoundException::class, fn() => $client->delete($job));
};
foreach ($kinds as $kindName => $kind) {
    $checks["bodies of any bytes, by reserve and peek, over $kindName"] = function (string $tube) use ($kind) {
        $client = connect($tube, $kind);
        foreach (bodies() as $body) {
            $put = $client->put($body);
            equal($client->peek($put)->getData(), $body);
            $job = $client->reserve();
            equal([$job->getId(), $job->getData()], [$put->getId(), $body]);
            $client->delete($job);
        }
    };
}
$checks['JOB_TOO_BIG, and the connection goes on'] = function (string $tube) {
    $client = connect($tube);
    fails(Exception\JobTooBigException::class, fn() => $client->put(str_repeat('x', 65536)));
    fails(Exception\JobTooBigException::class, fn() => $client->put(str_repeat('x', 200000)));
    $client->put('small');
    equal($client->reserve()->getData(), 'small');
};
$checks['priorities order jobs, ids order equals'] = function (string $tube) {
    $client = connect($tube);
    $client->put('third', 4294967295);
    $client->put('second', 7);
    $client->put('first', 0);
    $client->put('second again', 7);
    foreach (['first', 'second', 'second again', 'third'] as $body) {
        equal($client->reserve()->getData(), $body);
    }
};
$checks['reserveWithTimeout 0 and 1'] = function (string $tube) {
    $client = connect($tube);
    $took = stopwatch();
    equal($client->reserveWithTimeout(0), null);
    $took(0);
    equal($client->reserveWithTimeout(1), null);
    $took(1);
    $client->put('now');
    equal($client->reserveWithTimeout(0)->getData(), 'now');
};
$checks['DEADLINE_SOON'] = function (string $tube) {
    $client = connect($tube);
    $client->put('short', 0, 0, 1);
    $job = $client->reserve();
    fails(Exception\DeadlineSoonException::class, fn() => $client->reserve());
    fails(Exception\DeadlineSoonException::class, fn() => $client->reserveWithTimeout(0));
    $client->delete($job);
    equal($client->reserveWithTimeout(0), null);
};
$checks['a ttr that runs out gives the job to another'] = function (string $tube) {
    [$client, $other] = [connect($tube), connect($tube)];
    $took = stopwatch();
    $client->put('slow', 0, 0, 1);
    $mine = $client->reserve();
    usleep(1100000);
    // Debian's beanstalkd now and then forgets the ttr of a silent connection.
    $client->listTubeUsed(true);
    $theirs = $other->reserveWithTimeout(5);
    $took(1);
    equal($theirs->getId(), $mine->getId());
    has($other->statsJob($theirs), ['timeouts' => 1]);
    fails(Exception\JobNotFoundException::class, fn() => $client->delete($mine));
};
$checks['put with a delay'] = function (string $tube) {
    $client = connect($tube);
    $took = stopwatch();
    $job = $client->put('later', 0, 1);
    equal(state($client, $job), 'delayed');
    equal($client->reserveWithTimeout(0), null);
    equal($client->reserve()->getData(), 'later');
    $took(1);
};
$checks['release, with priority and delay'] = function (string $tube) {
    $client = connect($tube);
    $client->put('again');
    $client->release($client->reserve());
    $job = $client->reserve();
    $client->release($job, 9, 100);
    has($client->statsJob($job), ['state' => 'delayed', 'pri' => 9, 'delay' => 100, 'releases' => 2]);
    fails(Exception\JobNotFoundException::class, fn() => $client->release($job));
};
$checks['bury, kick and kickJob'] = function (string $tube) {
    $client = connect($tube);
    $jobs = [$client->put('a'), $client->put('b'), $client->put('c', 0, 100)];
    $client->bury($client->reserve(), 5);
    $client->bury($client->reserve(), 5);
    has($client->statsJob($jobs[0]), ['state' => 'buried', 'pri' => 5, 'buries' => 1]);
    equal($client->kick(1), 1);
    equal([state($client, $jobs[0]), state($client, $jobs[1])], ['ready', 'buried']);
    $client->kickJob($jobs[1]);
    equal([$client->kick(10), $client->kick(10)], [1, 0]);
    has($client->statsJob($jobs[2]), ['state' => 'ready', 'kicks' => 1]);
    fails(Exception\JobNotFoundException::class, fn() => $client->kickJob($jobs[1]));
    fails(Exception\JobNotFoundException::class, fn() => $client->bury($jobs[1]));
};
$checks['touch'] = function (string $tube) {
    $client = connect($tube);
    $client->put('touch me', 0, 0, 3);
    $job = $client->reserve();
    usleep(1100000);
    has($client->statsJob($job), ['time-left' => 1]);
    $client->touch($job);
    has($client->statsJob($job), ['time-left' => 2]);
    fails(Exception\JobNotFoundException::class, fn() => $client->touch(new JobId(4000000000)));
};
$checks['peek, peekReady, peekDelayed, peekBuried'] = function (string $tube) {
    $client = connect($tube);
    equal([$client->peekReady(), $client->peekDelayed(), $client->peekBuried()], [null, null, null]);
    $client->put('buried');
    $client->bury($client->reserve());
    $client->put('ready');
    $client->put('delayed', 0, 100);
    equal($client->peekReady()->getData(), 'ready');
    equal($client->peekDelayed()->getData(), 'delayed');
    equal($client->peekBuried()->getData(), 'buried');
    fails(Exception\JobNotFoundException::class, fn() => $client->peek(new JobId(4000000000)));
};
$checks['pauseTube holds jobs back until its time is over, resumeTube ends it'] = function (string $tube) {
    $client = connect($tube);
    $client->put('held');
    $took = stopwatch();
    $client->pauseTube($tube, 1);
    has($client->statsTube($tube), ['pause' => 1, 'cmd-pause-tube' => 1]);
    equal($client->reserveWithTimeout(0), null);
    $job = $client->reserve();
    $took(1);
    $client->pauseTube($tube, 100);
    $client->release($job);
    equal($client->reserveWithTimeout(0), null);
    $client->resumeTube($tube);
    equal($client->reserveWithTimeout(0)->getData(), 'held');
    fails(Exception\ServerException::class, fn() => $client->resumeTube('no-such-tube'));
};
$checks['useTube, watch, ignore, withUsedTube, withWatchedTube, the lists'] = function (string $tube) {
    $client = connect($tube);
    $client->withUsedTube("$tube/a", function ($inside) use ($tube) {
        equal($inside->listTubeUsed(true), "$tube/a");
        $inside->put('in a');
    });
    equal($client->listTubeUsed(true), $tube);
    $job = $client->withWatchedTube("$tube/a", fn($inside) => $inside->reserve());
    equal($job->getData(), 'in a');
    $client->watchOnly($tube)->watch("$tube.b")->watch('default');
    equal($client->listTubesWatched(true), [$tube, "$tube.b", 'default']);
    equal(array_diff(['default', $tube, "$tube.b"], $client->listTubes()), []);
    $client->ignore("$tube.b")->ignore('default');
    fails(Exception\ServerException::class, fn() => $client->ignore($tube));
    equal($client->listTubesWatched(true), [$tube]);
    fails(Exception\ServerBadFormatException::class, fn() => $client->useTube('-dash'));
};
$checks['stats, statsJob, statsTube'] = function (string $tube) {
    $client = connect($tube);
    $before = $client->stats();
    checkKeys('stats', $before);
    has($before, ['max-job-size' => 65535, 'draining' => 'false']);
    equal(preg_match('/^"\d+\.\d+"$/', $before['version']), 1);
    $put = $client->put('counted', 3, 0, 77);
    checkKeys('stats-job', $client->statsJob($put));
    has($client->statsJob($put), ['id' => $put->getId(), 'tube' => $tube, 'state' => 'ready', 'pri' => 3, 'ttr' => 77]);
    $client->delete($client->reserve());
    checkKeys('stats-tube', $client->statsTube($tube));
    has($client->statsTube($tube), ['name' => $tube, 'total-jobs' => 1, 'cmd-delete' => 1, 'current-using' => 1]);
    equal($client->statsTube($tube)->current_watching, '1');
    grew($before, $client->stats(), [
        'cmd-put' => 1, 'cmd-reserve' => 1, 'cmd-delete' => 1, 'cmd-stats' => 1, 'cmd-stats-job' => 2, 'total-jobs' => 1,
    ]);
    fails(Exception\ServerException::class, fn() => $client->statsJob($put));
    fails(Exception\ServerException::class, fn() => $client->statsTube('no-such-tube'));
};
$checks['several connections share a tube'] = function (string $tube) {
    [$client, $workers] = [connect($tube), [connect($tube), connect($tube), connect($tube)]];
    foreach (['1', '2', '3'] as $body) {
        $client->put($body);
    }
    equal(array_map(fn($worker) => $worker->reserve()->getData(), $workers), ['1', '2', '3']);
};
$checks['disconnect gives a reserved job back'] = function (string $tube) {
    $client = connect($tube);
    $connection = new Connection(new SocketFactory('127.0.0.1', PORT));
    $other = (new Pheanstalk($connection))->watchOnly($tube);
    $client->put('mine');
    $other->reserve();
    $connection->disconnect();
    equal($client->reserve()->getData(), 'mine');
};
foreach ($kinds as $kindName => $kind) {
    $checks["reconnects by itself after a restart of the server, over $kindName"] = function (string $tube) use ($kind) {
        $client = connect($tube, $kind);
        restart();
        $client->put('after');
        equal($client->listTubeUsed(true), $tube);
        equal($client->reserve()->getData(), 'after');
        equal(in_array($tube, $client->listTubesWatched(true)), true);
    };
}

suite('pheanstalk', $checks);
