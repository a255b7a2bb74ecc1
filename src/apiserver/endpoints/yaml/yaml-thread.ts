import { Buffer } from 'node:buffer';
import { Worker } from 'node:worker_threads';
import { DecodeError, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { inSteps } from '#apimachinery/runtime/steps';
import { type ParsedYaml, parseYaml, readAsJson, YamlError } from '#apimachinery/runtime/yaml/yaml';

export interface YamlRequest {
  readonly id: number;
  /** `read`: the bytes are YAML; `write`: the bytes are JSON. */
  readonly ask: 'read' | 'write';
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Result: parsed YAML as JSON with the duplicate error of `parseYaml`, encoded YAML, or an error. */
export type YamlAnswer =
  | ({ readonly id: number; readonly text: Uint8Array<ArrayBuffer> } & Partial<Pick<ParsedYaml, 'duplicateError'>>)
  | { readonly id: number; readonly failed: { readonly name: string; readonly message: string } };

type YamlText = Extract<YamlAnswer, { readonly text: unknown }>;

/** Idle time after which the thread exits. */
const idleMs = 30_000;

/** Maximum size of bodies that are parsed synchronously, in 20 ms at most. */
const fewBytes = 32 * 1024;

/**
 * Parses YAML like `parseYaml`, with the same errors. A large body, or one whose aliases may expand, yields to the event loop if it
 * is JSON and is parsed by a worker thread otherwise.
 */
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

/** Encodes large JSON as YAML in a worker thread. */
export async function writeYaml(json: Buffer): Promise<Buffer> {
  const { text } = await thread.ask('write', json);
  return bufferOf(text);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Worker thread that is started on first use. Concurrent requests are queued. */
class YamlThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last = 0;
  readonly #waiting = new Map<number, PromiseWithResolvers<YamlText>>();

  ask(ask: YamlRequest['ask'], bytes: Buffer): Promise<YamlText> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    // The thread keeps the process alive only while a request is pending.
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
    worker.on('exit', () => this.#fail(worker, new Error('the YAML worker thread exited')));
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

  /** Fails pending requests. The thread exits by itself only if it runs out of memory; the next request starts another one. */
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
