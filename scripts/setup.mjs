// npm run setup: sets up the checkout; with arguments, it then runs a command on the right Node:
//   start [FLAGS]      the server
//   servers            only gets the servers that tests start
//   test [ARGUMENTS]   the tests
//   test-unit [ARGUMENTS]     the tests beside the code that need no build and no server
//   test-changed [ARGUMENTS]  the tests of files that changed since the last commit, or with --changed=REF since REF
//   test-on BACKEND [ARGUMENTS]   the tests, with the objects of test clusters in redis or etcd
//   test-with-workers [ARGUMENTS] the tests, with two serving workers in each server
//   test-with-node-http2 [ARGUMENTS] the tests, with HTTP/2 served by node:http2
//   run FILE [ARGUMENTS]    a script of the checkout
//   node FILE [ARGUMENTS]   a script of the checkout that needs no build
import { spawn } from 'node:child_process';
import { availableParallelism, constants } from 'node:os';
import { join } from 'node:path';
import { backends, getServers, hasServer } from './get-servers.mjs';
import { root, setUp, log } from './toolchain.mjs';

const [verb, ...args] = process.argv.slice(2);
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const commands = {
  servers: () => undefined,
  start: () => [join(root, 'bin/kubenest'), ['serve', ...args]],
  test: (node) => [node, [vitest, 'run', ...args]],
  // Many of these tests wait for timers.
  'test-unit': (node) => [node, [vitest, 'run', '--project', 'unit', `--maxWorkers=${availableParallelism() + 2}`, ...args]],
  'test-changed': (node) => [node, [vitest, 'run', ...args, ...(args.some((arg) => arg.startsWith('--changed')) ? [] : ['--changed'])]],
  'test-on': (node) => {
    process.env.TEST_STORAGE = args[0];
    return [node, [vitest, 'run', ...args.slice(1)]];
  },
  'test-with-workers': (node) => {
    process.env.KUBENEST_TEST_SERVING_WORKERS = '2';
    return [node, [vitest, 'run', ...args]];
  },
  'test-with-node-http2': (node) => {
    process.env.KUBENEST_TEST_HTTP2_SERVER = 'node';
    return [node, [vitest, 'run', ...args]];
  },
  run: (node) => [node, args],
  node: (node) => [node, args],
};

try {
  if (verb !== undefined && !Object.hasOwn(commands, verb))
    throw new Error(`${verb} is unknown, it must be one of ${Object.keys(commands).join(', ')}`);
  const node = setUp({ build: !['node', 'test-unit', 'servers'].includes(verb), types: verb === undefined });
  if (verb === 'servers' || (verb?.startsWith('test') && verb !== 'test-unit')) getServers(log);
  if (verb === 'test-on' && !backends.includes(args[0])) throw new Error(`test-on needs a backend: ${backends.join(' or ')}`);
  if (verb === 'test-on' && !hasServer(args[0])) log(`there is no ${args[0]}: its tests are skipped`);
  else {
    const command = verb && commands[verb](node);
    if (command) run(...command);
  }
} catch (error) {
  console.error(`set-up: ${error.message}`);
  process.exitCode = 1;
}

/** Runs a command in place of this process: forwards signals and exits with its code. */
function run(command, commandArgs) {
  const child = spawn(command, commandArgs, { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`set-up: cannot run ${command}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
