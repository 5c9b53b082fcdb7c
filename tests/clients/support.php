<?php
// What the PHP client's script needs: named checks, the bodies to send, and the keys of stats. A
// check that fails ends the script with what was expected and what came. Warnings and notices are
// failures too.

set_error_handler(function (int $level, string $message, string $file, int $line) {
    if (error_reporting() & $level) {
        throw new ErrorException($message, 0, $level, $file, $line);
    }
});

define('PORT', (int) getenv('XYLEM_PORT'));
define('KEYS', json_decode(file_get_contents(__DIR__ . '/keys.json'), true));

function bodies(): array
{
    $longest = '';
    for ($i = 0; $i < 65535; $i++) {
        $longest .= chr(($i * 31 + ($i >> 8)) % 256);
    }
    return [
        'empty' => '',
        'zero' => '0',
        'all 256 byte values' => implode('', array_map('chr', range(0, 255))),
        'a reply inside' => "a\r\nRESERVED 1 3\r\n\r\nb\r\n",
        'unicode' => 'Grüße, 世界 🌱',
        '65535 bytes' => $longest,
    ];
}

function equal($got, $expected): void
{
    if ($got !== $expected) {
        $show = fn($value) => substr(var_export($value, true), 0, 500);
        throw new Exception("expected {$show($expected)}, got {$show($got)}");
    }
}

// What the library's parser leaves of a value: text, with its quotes if the server quotes it.
function unquoted($value): string
{
    return trim($value, '"');
}

// `fields` of a stats reply, and no others.
function has($stats, array $fields): void
{
    $got = [];
    foreach ($fields as $key => $value) {
        $got[$key] = unquoted($stats[$key]);
    }
    equal($got, array_map('strval', $fields));
}

function fails(string $class, Closure $command): void
{
    try {
        $command();
    } catch (Exception $error) {
        if ($error instanceof $class) {
            return;
        }
        throw $error;
    }
    throw new Exception("expected $class, got success");
}

// $took = stopwatch(); ...; $took(1): since then 1 s has passed, not less, and more only as far as
// a busy machine makes it. It is started before the command that starts the server's clock.
function stopwatch(): Closure
{
    $start = hrtime(true);
    return function (int $seconds) use ($start) {
        $taken = (hrtime(true) - $start) / 1e9;
        if ($taken < $seconds - 0.005 || $taken > $seconds + 5) {
            throw new Exception("expected $seconds s, took $taken s");
        }
    };
}

// beanstalkd's keys come first, in its order, numbers as numbers.
function checkKeys(string $kind, $stats): void
{
    $stats = $stats->getArrayCopy();
    equal(array_slice(array_keys($stats), 0, count(KEYS[$kind])), KEYS[$kind]);
    foreach (array_diff(KEYS[$kind], KEYS['not-numbers']) as $key) {
        equal([$key, is_numeric($stats[$key])], [$key, true]);
    }
}

// By how much the counters named in `expected` grew between two stats.
function grew($before, $after, array $expected): void
{
    $got = [];
    foreach ($expected as $key => $by) {
        $got[$key] = $after[$key] - $before[$key];
    }
    equal($got, $expected);
}

// Ends the server and starts it on the same port at once; the clients' sockets are still open then.
function restart(): void
{
    passthru(getenv('XYLEM_RESTART') . ' restart', $code);
    equal($code, 0);
}

// Runs the checks one after the other, each with a tube name of its own.
function suite(string $library, array $checks): void
{
    $index = 0;
    foreach ($checks as $name => $check) {
        try {
            $check("$library-" . $index++);
        } catch (Throwable $error) {
            fwrite(STDERR, "$library: FAILED: $name\n$error\n");
            exit(1);
        }
        echo "$library: $name\n";
    }
    echo "$library: " . count($checks) . " checks passed\n";
}
