import { Buffer } from 'node:buffer';
import { DecodeError, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { JsonSyntaxError } from '#apimachinery/runtime/json/json-syntax';
import { QueuedThread } from '#apiserver/base/queued-thread';
import { inSteps } from '#apimachinery/runtime/steps';
import { type ParsedYaml, parseYaml, readAsJson, YamlError } from '#apimachinery/runtime/yaml/yaml';

export interface YamlRequest {
  /** `read`: the bytes are YAML; `write`: the bytes are JSON. */
  readonly ask: 'read' | 'write';
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Result: parsed YAML as JSON with the duplicate error of `parseYaml`, encoded YAML, or an error. */
export type YamlAnswer =
  | ({ readonly text: Uint8Array<ArrayBuffer> } & Partial<Pick<ParsedYaml, 'duplicateError'>>)
  | { readonly failed: { readonly name: string; readonly message: string } };

type YamlText = Extract<YamlAnswer, { readonly text: unknown }>;

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
  const { text, duplicateError } = await ask('read', [bytes]);
  const { value } = await inSteps(parseJsonSteps(bufferOf(text)));
  return { value, duplicateError };
}

/**
 * Encodes large JSON, given as one or more buffers, as YAML in a worker thread. `onGone` registers a callback for the client's
 * disconnection, after which work that has not started is dropped.
 */
export async function writeYaml(json: readonly Buffer[], onGone?: (leave: () => void) => void): Promise<Buffer> {
  const { text } = await ask('write', json, onGone);
  return bufferOf(text);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const thread = new QueuedThread<YamlRequest, YamlAnswer>({
  name: 'YAML',
  module: new URL('./yaml-worker', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 1024 },
});

async function ask(ask: YamlRequest['ask'], parts: readonly Buffer[], onGone?: (leave: () => void) => void): Promise<YamlText> {
  const answer = await thread.run(() => {
    const bytes = new Uint8Array(Buffer.concat(parts));
    return { message: { ask, bytes }, transfer: [bytes.buffer] };
  }, onGone);
  if ('failed' in answer) throw errorOf(answer.failed);
  return answer;
}

function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  if (name === 'YamlError') return new YamlError(message);
  if (name === 'JsonSyntaxError') return new JsonSyntaxError(message, 0);
  return name === 'DecodeError' ? new DecodeError(message) : new Error(message);
}
