import { Buffer } from 'node:buffer';
import { parentPort } from 'node:worker_threads';
import { encodeRawJson, parseJson } from '#apimachinery/runtime/json/json';
import { parseYaml } from '#apimachinery/runtime/yaml/yaml';
import { encodeYaml } from '#apimachinery/runtime/yaml/yaml-emitter';
import type { YamlAnswer, YamlRequest } from './yaml-thread.ts';

/*
 * Worker thread that parses and encodes large YAML, one request at a time. When run from the sources, Node loads this file and its
 * imports directly, so they use only erasable syntax.
 */

const port = parentPort!;

port.on('message', (request: YamlRequest) => {
  const answer = answerTo(request);
  port.postMessage(answer, 'text' in answer ? [answer.text.buffer] : []);
});

function answerTo({ ask, bytes }: YamlRequest): YamlAnswer {
  try {
    if (ask === 'write') return { text: bytesOf(encodeYaml(parseJson(Buffer.from(bytes.buffer)).value)) };
    const { value, duplicateError } = parseYaml(bytes);
    return { text: bytesOf(encodeRawJson(value)), duplicateError };
  } catch (error) {
    const { name, message } = error as Error;
    return { failed: { name, message } };
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
