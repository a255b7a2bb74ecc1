import { Buffer } from 'node:buffer';
import { Worker } from 'node:worker_threads';
import { DecodeError, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { inSteps } from '#apimachinery/runtime/steps';
import { type ParsedYaml, parseYaml, readAsJson, YamlError } from '#apimachinery/runtime/yaml/yaml';

export interface YamlRequest {
  readonly id: number;
  /** `read`: the bytes are YAML; `write`: they are JSON. */
  readonly ask: 'read' | 'write';
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What was read, as JSON, with what `parseYaml` tells of it; what was written, as YAML; or the error. */
export type YamlAnswer =
  | ({ readonly id: number; readonly text: Uint8Array<ArrayBuffer> } & Partial<Pick<ParsedYaml, 'duplicateError'>>)
  | { readonly id: number; readonly failed: { readonly name: string; readonly message: string } };

type YamlText = Extract<YamlAnswer, { readonly text: unknown }>;

/** The thread ends when nobody has asked it for so long. */
const idleMs = 30_000;

/** A body of fewer bytes is read at once: in 20 ms at most. */
const fewBytes = 32 * 1024;

/** Reads YAML as `parseYaml` does, and has its errors; a large body, or one whose aliases may stand for much, in steps if it is JSON, and else by another thread. */
export function readYaml(bytes: Buffer): ParsedYaml | Promise<ParsedYaml> {
  return bytes.length >= fewBytes || (bytes.includes('&') && bytes.includes('*')) ? readLargeYaml(bytes) : parseYaml(bytes);
}

async function readLargeYaml(bytes: Buffer): Promise<ParsedYaml> {
  const json = await inSteps(readAsJson(bytes));
  if (json) return json;
  const { text, duplicateError } = await thread.ask('read', bytes);
  const { value } = await inSteps(parseJsonSteps(bufferOf(text)));
  return { value, duplicateError };
}

/** Writes large JSON as YAML, by another thread. */
export async function writeYaml(json: Buffer): Promise<Buffer> {
  const { text } = await thread.ask('write', json);
  return bufferOf(text);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Started by the first question. Those that come meanwhile wait for their turn. */
class YamlThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = 0;
  readonly #waiting = new Map<number, PromiseWithResolvers<YamlText>>();

  ask(ask: YamlRequest['ask'], bytes: Buffer): Promise<YamlText> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    // Only while somebody waits for it, it keeps the process.
    worker.ref();
    const id = (this.#last += 1);
    const answer = Promise.withResolvers<YamlText>();
    this.#waiting.set(id, answer);
    const copy = new Uint8Array(bytes);
    worker.postMessage({ id, ask, bytes: copy } satisfies YamlRequest, [copy.buffer]);
    return answer.promise;
  }

  #start(): Worker {
    const isSource = import.meta.url.endsWith('.ts');
    const worker = new Worker(new URL(`./yaml-worker.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      name: 'yaml',
      execArgv: isSource ? ['--conditions=kubenest-source'] : [],
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    });
    worker.on('message', (answer: YamlAnswer) => this.#settle(worker, answer));
    worker.on('error', (error: Error) => this.#fail(worker, error));
    worker.on('exit', () => this.#fail(worker, new Error('the thread that reads and writes YAML has ended')));
    return worker;
  }

  #settle(worker: Worker, answer: YamlAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('failed' in answer) waiting?.reject(errorOf(answer.failed));
    else waiting?.resolve(answer);
    if (this.#waiting.size > 0) return;
    worker.unref();
    this.#idle = setTimeout(() => this.#end(worker), idleMs).unref();
  }

  #end(worker: Worker): void {
    this.#worker = undefined;
    void worker.terminate();
  }

  /** Only one that has run out of memory ends of itself; the next question starts another. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const thread = new YamlThread();

function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'YamlError') return new YamlError(message);
  if (name === 'JsonSyntaxError') return new JsonSyntaxError(message, 0);
  return name === 'DecodeError' ? new DecodeError(message) : new Error(message);
}
