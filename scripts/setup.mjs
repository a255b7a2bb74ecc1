// npm run setup: does the set-up, and nothing more without arguments. With them, what follows it, on the right Node:
//   start [FLAGS]      the server
//   test [ARGUMENTS]   the tests
//   run FILE [ARGUMENTS]    a script of the checkout
//   node FILE [ARGUMENTS]   a script of the checkout that needs no build
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getRedis } from './get-redis.mjs';
import { root, setUp, tell } from './toolchain.mjs';

const [verb, ...args] = process.argv.slice(2);
const commands = {
  start: () => [join(root, 'bin/kubenest'), ['serve', ...args]],
  test: (node) => [node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args]],
  run: (node) => [node, args],
  node: (node) => [node, args],
};

try {
  if (verb !== undefined && !Object.hasOwn(commands, verb))
    throw new Error(`${verb} is unknown, it must be one of ${Object.keys(commands).join(', ')}`);
  const node = setUp({ build: verb !== 'node' });
  if (verb === 'test') getRedis(tell);
  if (verb !== undefined) run(...commands[verb](node));
} catch (error) {
  console.error(`set-up: ${error.message}`);
  process.exitCode = 1;
}

/** Runs it in the place of this process: signals go on to it, its end is ours. */
function run(command, commandArgs) {
  const child = spawn(command, commandArgs, { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`set-up: ${command} cannot be run: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
