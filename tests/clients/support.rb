# What the Ruby client's script needs: a list of named checks, the bodies to send, and the keys of
# stats. A check that fails ends the script with what was expected and what came.
require 'json'

PORT = Integer(ENV.fetch('XYLEM_PORT'))
KEYS = JSON.parse(File.read(File.join(__dir__, 'keys.json')))
BODIES = {
  'empty' => '',
  'all 256 byte values' => (0..255).to_a.pack('C*'),
  'a reply inside' => "a\r\nRESERVED 1 3\r\n\r\nb\r\n",
  'unicode' => 'Grüße, 世界 🌱',
  '65535 bytes' => Array.new(65_535) { |i| (i * 31 + (i >> 8)) % 256 }.pack('C*')
}.transform_values(&:b).freeze

class Failed < StandardError; end

def equal(got, expected)
  raise Failed, "expected #{expected.inspect[0, 500]}, got #{got.inspect[0, 500]}" unless got == expected
end

# `fields` of a stats structure, and no others.
def has(stats, **fields)
  equal(fields.to_h { |key, _| [key, stats[key.to_s]] }, fields)
end

def fails(error)
  yield
rescue error
  nil
else
  raise Failed, "expected #{error}, got success"
end

# took = stopwatch; ...; took.call(1): since then 1 s has passed, not less, and more only as far as
# a busy machine makes it. It is started before the command that starts the server's clock.
def stopwatch
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  lambda do |seconds|
    taken = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
    raise Failed, "expected #{seconds} s, took #{taken} s" unless taken.between?(seconds - 0.005, seconds + 5)
  end
end

# The library turns dashes of keys into underscores. beanstalkd's keys come first, in its order,
# numbers as numbers.
def check_keys(kind, stats)
  names = KEYS[kind].map { |key| key.tr('-', '_') }
  equal(stats.keys.first(names.size), names)
  (KEYS[kind] - KEYS['not-numbers']).each do |key|
    raise Failed, "#{key} is no number" unless stats[key.tr('-', '_')].is_a?(Numeric)
  end
end

# By how much counters grew between two stats.
def grew(before, after, **expected)
  equal(expected.to_h { |key, _| [key, after[key.to_s] - before[key.to_s]] }, expected)
end

# Ends the server and starts it on the same port at once; the clients' sockets are still open then.
def restart
  raise Failed, 'the server did not restart' unless system(ENV.fetch('XYLEM_RESTART'), 'restart')
end

# Runs checks one after the other, each with a tube name of its own.
class Suite
  def initialize(library)
    @library = library
    @count = 0
  end

  def check(name)
    yield "#{@library}-#{@count += 1}"
    puts "#{@library}: #{name}"
  rescue StandardError => e
    abort "#{@library}: FAILED: #{name}\n#{e.full_message(highlight: false)}"
  end

  def done
    puts "#{@library}: #{@count} checks passed"
  end
end
