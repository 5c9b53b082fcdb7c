# beaneater 1.1.1 against a server: connection, tubes, jobs, the job processor, its configuration,
# its own reconnecting. Bodies are strings of bytes; errors are classes named after the reply's
# word. It has no reserve-job.
require 'beaneater'
require_relative 'support'

ADDRESS = "127.0.0.1:#{PORT}".freeze

suite = Suite.new('beaneater')
client = Beaneater.new(ADDRESS)
other = Beaneater.new(ADDRESS)

suite.check('put, reserve, delete') do |name|
  tube = client.tubes[name]
  id = tube.put('hello')[:id]
  has(client.jobs[id].stats, state: 'ready', pri: 65_536, ttr: 120, delay: 0)
  job = tube.reserve
  equal([job.id, job.body, job.reserved?, job.tube, job.ttr, job.pri, job.delay],
        [id, 'hello', true, name, 120, 65_536, 0])
  job.delete
  equal([job.exists?, client.jobs.find(id)], [false, nil])
  fails(Beaneater::NotFoundError) { job.delete }
end

suite.check('bodies of any bytes, by reserve and peek') do |name|
  tube = client.tubes[name]
  BODIES.each_value do |body|
    id = tube.put(body)[:id]
    equal(client.jobs.peek(id).body, body)
    job = tube.reserve
    equal([job.id, job.body], [id, body])
    job.delete
  end
end

suite.check('JOB_TOO_BIG, and the connection goes on') do |name|
  tube = client.tubes[name]
  fails(Beaneater::JobTooBigError) { tube.put('x' * 65_536) }
  fails(Beaneater::JobTooBigError) { tube.put('x' * 200_000) }
  tube.put('small')
  equal(tube.reserve.body, 'small')
end

suite.check('priorities order jobs, ids order equals') do |name|
  tube = client.tubes[name]
  tube.put('third', pri: 4_294_967_295)
  tube.put('second', pri: 7)
  tube.put('first', pri: 0)
  tube.put('second again', pri: 7)
  equal(Array.new(4) { tube.reserve.body }, ['first', 'second', 'second again', 'third'])
end

suite.check('reserve with timeout 0 and 1') do |name|
  tube = client.tubes[name]
  took = stopwatch
  fails(Beaneater::TimedOutError) { tube.reserve(0) }
  took.call(0)
  fails(Beaneater::TimedOutError) { tube.reserve(1) }
  took.call(1)
  tube.put('now')
  tube.reserve(0) { |job| equal(job.body, 'now') }
end

suite.check('DEADLINE_SOON') do |name|
  tube = client.tubes[name]
  tube.put('short', ttr: 1)
  job = tube.reserve
  fails(Beaneater::DeadlineSoonError) { tube.reserve }
  fails(Beaneater::DeadlineSoonError) { tube.reserve(0) }
  job.delete
  fails(Beaneater::TimedOutError) { tube.reserve(0) }
end

suite.check('a ttr that runs out gives the job to another') do |name|
  took = stopwatch
  client.tubes[name].put('slow', ttr: 1)
  mine = client.tubes[name].reserve
  waiting = Thread.new { other.tubes[name].reserve(5) }
  sleep 1.1
  # Debian's beanstalkd now and then forgets the ttr of a silent connection.
  client.tubes.used
  theirs = waiting.value
  took.call(1)
  equal([theirs.id, theirs.stats.timeouts], [mine.id, 1])
  fails(Beaneater::NotFoundError) { mine.delete }
  theirs.delete
end

suite.check('a waiting reserve gets a job put later') do |name|
  waiting = Thread.new { other.tubes[name].reserve.body }
  sleep 0.1
  equal(client.tubes[name].stats.current_waiting, 1)
  client.tubes[name].put('at last')
  equal(waiting.value, 'at last')
end

suite.check('put with a delay') do |name|
  tube = client.tubes[name]
  took = stopwatch
  id = tube.put('later', delay: 1)[:id]
  equal(client.jobs[id].stats.state, 'delayed')
  fails(Beaneater::TimedOutError) { tube.reserve(0) }
  equal(tube.reserve.body, 'later')
  took.call(1)
end

suite.check('release, with priority and delay') do |name|
  tube = client.tubes[name]
  tube.put('again')
  tube.reserve.release
  job = tube.reserve
  job.release(pri: 9, delay: 100)
  has(job.stats, state: 'delayed', pri: 9, delay: 100, releases: 2)
  fails(Beaneater::JobNotReserved) { job.release }
end

suite.check('bury, kick a tube, kick a job') do |name|
  tube = client.tubes[name]
  tube.put('a')
  tube.put('b')
  delayed = client.jobs[tube.put('c', delay: 100)[:id]]
  buried = Array.new(2) { tube.reserve.tap { |job| job.bury(pri: 5) } }
  has(buried[0].stats, state: 'buried', pri: 5, buries: 1)
  equal(tube.kick[:id], '1')
  equal(buried.map { |job| job.stats.state }, %w[ready buried])
  buried[1].kick
  equal(tube.kick(10)[:id], '1')
  has(delayed.stats, state: 'ready', kicks: 1)
  fails(Beaneater::NotFoundError) { buried[1].kick }
  fails(Beaneater::JobNotReserved) { buried[1].bury }
end

suite.check('touch') do |name|
  tube = client.tubes[name]
  tube.put('touch me', ttr: 3)
  job = tube.reserve
  sleep 1.1
  equal(job.stats.time_left, 1)
  job.touch
  equal(job.stats.time_left, 2)
  job.delete
  fails(Beaneater::NotFoundError) { client.connection.transmit('touch 4000000000') }
end

suite.check('peek ready, delayed, buried') do |name|
  tube = client.tubes[name]
  equal(%i[ready delayed buried].map { |state| tube.peek(state) }, [nil, nil, nil])
  tube.put('buried')
  tube.reserve.bury
  tube.put('ready')
  tube.put('delayed', delay: 100)
  %w[ready delayed buried].each { |state| equal(tube.peek(state).body, state) }
  equal(client.jobs.peek(4_000_000_000), nil)
end

suite.check('clear empties a tube') do |name|
  tube = client.tubes[name]
  3.times { |i| tube.put('x', delay: i * 100) }
  tube.reserve.bury
  tube.put('y')
  tube.clear
  has(tube.stats, current_jobs_ready: 0, current_jobs_delayed: 0, current_jobs_buried: 0, cmd_delete: 4)
end

suite.check('pause holds jobs back until its time is over') do |name|
  tube = client.tubes[name]
  tube.put('held')
  took = stopwatch
  tube.pause(1)
  has(tube.stats, pause: 1, cmd_pause_tube: 1)
  fails(Beaneater::TimedOutError) { tube.reserve(0) }
  equal(tube.reserve.body, 'held')
  took.call(1)
  fails(Beaneater::NotFoundError) { client.tubes['no-such-tube'].pause(0) }
end

suite.check('use, watch, ignore and the lists of tubes') do |name|
  tubes = client.tubes
  tubes.watch!(name)
  tubes.use("#{name}/a")
  equal([tubes.used.name, tubes.last_used], ["#{name}/a"] * 2)
  tubes.watch("#{name}.b", 'default')
  equal(tubes.watched.map(&:name), [name, "#{name}.b", 'default'])
  equal([name, "#{name}/a", "#{name}.b", 'default'] - tubes.all.map(&:name), [])
  equal(tubes.map(&:name).include?(name), true)
  tubes.ignore("#{name}.b", 'no-such-tube', 'default')
  equal(tubes.watched.map(&:name), [name])
  fails(Beaneater::NotIgnoredError) { tubes.ignore(name) }
  fails(Beaneater::InvalidTubeName) { tubes.use('-dash') }
  fails(Beaneater::InvalidTubeName) { tubes.watch('with space') }
end

suite.check('stats of server, job and tube') do |name|
  before = client.stats
  check_keys('stats', before)
  equal([before.version.match?(/\A\d+\.\d+\z/), before.draining, before.max_job_size], [true, false, 65_535])
  counted = %w[cmd_put cmd_reserve cmd_delete total_jobs].to_h { |key| [key, before[key]] }
  tube = client.tubes[name]
  id = tube.put('counted', pri: 3, ttr: 77)[:id]
  check_keys('stats-job', client.jobs[id].stats)
  has(client.jobs[id].stats, id: id.to_i, tube: name, state: 'ready', pri: 3, ttr: 77)
  tube.reserve.delete
  check_keys('stats-tube', tube.stats)
  has(tube.stats, name: name, total_jobs: 1, cmd_delete: 1, current_using: 1, current_watching: 1)
  grew(counted, client.stats, cmd_put: 1, cmd_reserve: 1, cmd_delete: 1, total_jobs: 1)
  fails(Beaneater::NotFoundError) { client.tubes['no-such-tube'].stats }
end

suite.check('UNKNOWN_COMMAND and BAD_FORMAT') do
  fails(Beaneater::UnknownCommandError) { client.connection.transmit('frobnicate') }
  fails(Beaneater::BadFormatError) { client.connection.transmit('kick many') }
end

suite.check('configured defaults, serializer and parser') do |name|
  Beaneater.configure do |config|
    config.default_put_pri = 4
    config.default_put_ttr = 44
    config.job_serializer = ->(body) { JSON.generate(body) }
    config.job_parser = ->(body) { JSON.parse(body) }
  end
  client.tubes[name].put({ 'fruit' => 'Äpfel' })
  job = client.tubes[name].reserve
  equal(job.body, { 'fruit' => 'Äpfel' })
  has(job.stats, pri: 4, ttr: 44)
  Beaneater.instance_variable_set(:@_configuration, nil)
end

suite.check('process! deletes, retries, buries and stops') do |name|
  handled = []
  client.jobs.register(name, retry_on: [IOError], max_retries: 1) do |job|
    handled << job.body
    raise IOError if job.body == 'retry'
    raise 'odd' if job.body == 'bury'
    raise Beaneater::AbortProcessingError if job.body == 'stop'
  end
  ids = %w[done bury retry].map { |body| client.tubes[name].put(body)[:id] }
  stop = client.tubes[name].put('stop', delay: 2)[:id]
  client.jobs.process!(release_delay: 1, reserve_timeout: 10)
  equal(handled, %w[done bury retry retry stop])
  equal(ids.map { |id| client.jobs[id]&.stats&.state }, [nil, 'buried', 'buried'])
  has(client.jobs[ids[2]].stats, releases: 1, buries: 1)
  equal(client.jobs[stop].stats.state, 'buried')
end

suite.check('several connections share a tube') do |name|
  workers = Array.new(3) { Thread.new { Beaneater.new(ADDRESS).tubes[name].reserve.body } }
  %w[1 2 3].each { |body| client.tubes[name].put(body) }
  equal(workers.map(&:value).sort, %w[1 2 3])
end

suite.check('close gives a reserved job back') do |name|
  third = Beaneater.new(ADDRESS)
  client.tubes[name].put('mine')
  third.tubes[name].reserve
  third.close
  equal(client.tubes[name].reserve.body, 'mine')
  fails(Beaneater::NotConnected) { third.tubes[name].reserve }
end

suite.check('reconnects by itself after a restart of the server, in its tubes') do |name|
  client.tubes.watch!(name)
  client.tubes.use(name)
  restart
  equal([client.tubes.used.name, client.tubes.watched.map(&:name)], [name, [name]])
  client.tubes[name].put('after')
  equal(client.tubes.reserve.body, 'after')
end

suite.done
