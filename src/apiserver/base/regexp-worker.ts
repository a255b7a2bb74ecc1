import { parentPort } from 'node:worker_threads';
import { runRegexpTask, type RegexpTask } from '#apimachinery/runtime/regexp';

/*
 * Worker thread that compiles and matches regular expressions that take long. When run from the sources, Node loads this file and its
 * imports directly, so they use only erasable syntax.
 */

const port = parentPort!;

port.on('message', (task: RegexpTask) => port.postMessage(runRegexpTask(task)));
