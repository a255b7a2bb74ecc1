import { execFileSync } from 'node:child_process';

/** Either `json` or `error`; `strict` is the error about duplicate keys. */
export interface YamlAnswer {
  readonly json?: string;
  readonly error?: string;
  readonly strict?: string;
}

/** Parses texts with the program test/clients/go/yaml. */
export function readWithGo(program: string, texts: readonly string[]): YamlAnswer[] {
  const input = texts.map((text) => `${Buffer.from(text).toString('base64')}\n`).join('');
  const lines = execFileSync(program, { input, maxBuffer: 1 << 28, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as YamlAnswer);
}
