import { Buffer } from 'node:buffer';
import { parse, YAMLParseError } from 'yaml';
import { parseYaml as parseAnyYaml } from '#apimachinery/runtime/yaml/yaml';

/**
 * Length above which the linear parser of requests checks a text first. The parser of configurations has better messages, but its time and
 * memory are quadratic in the length of nested or malformed text and in the number of keys: 5 MB of garbage took minutes and 4 GB.
 */
const mostUnchecked = 16 * 1024;

/**
 * Parses a configuration file in YAML 1.1 or JSON without aliases. Throws an Error with a single line that contains the problem and its
 * position; the caller adds the file name.
 */
export function parseYaml(text: string): unknown {
  const isLong = text.length > mostUnchecked;
  if (isLong) check(text);
  try {
    return parse(text, { version: '1.1', maxAliasCount: 0, uniqueKeys: !isLong });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    // The lines after the first one show the position graphically, which is unsuitable for a log.
    throw new Error(error.message.split('\n', 1)[0]?.replace(/:$/, ''), { cause: error });
  }
}

function check(text: string): void {
  const { duplicateError } = parseAnyYaml(Buffer.from(text));
  if (duplicateError !== undefined) throw new Error(duplicateError.replaceAll(/\n\s*/g, ' '));
}
