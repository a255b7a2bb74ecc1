import { Buffer } from 'node:buffer';
import { parentPort } from 'node:worker_threads';
import { encodeRawJson, parseJson } from '#apimachinery/runtime/json/json';
import { parseYaml } from '#apimachinery/runtime/yaml/yaml';
import { encodeYaml } from '#apimachinery/runtime/yaml/yaml-emitter';
import type { YamlAnswer, YamlRequest } from './yaml-thread.ts';

/*
 * The thread that reads and writes large YAML, one after the other. From the source, Node loads this file and what it imports
 * as they stand: only syntax that can be erased.
 */

const port = parentPort!;

port.on('message', (request: YamlRequest) => {
  const answer = answerTo(request);
  port.postMessage(answer, 'text' in answer ? [answer.text.buffer] : []);
});

function answerTo({ id, ask, bytes }: YamlRequest): YamlAnswer {
  try {
    if (ask === 'write') return { id, text: bytesOf(encodeYaml(parseJson(Buffer.from(bytes.buffer)).value)) };
    const { value, duplicateError } = parseYaml(bytes);
    return { id, text: bytesOf(encodeRawJson(value)), duplicateError };
  } catch (error) {
    const { name, message } = error as Error;
    return { id, failed: { name, message } };
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
