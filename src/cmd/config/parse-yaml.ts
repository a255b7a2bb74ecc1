import { parse, YAMLParseError } from 'yaml';

/**
 * Parses a configuration file in YAML 1.1 or JSON without aliases. Throws an Error with a single line that contains the problem and its
 * position; the caller adds the file name.
 */
export function parseYaml(text: string): unknown {
  try {
    return parse(text, { version: '1.1', maxAliasCount: 0 });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    // The lines after the first one show the position graphically, which is unsuitable for a log.
    throw new Error(error.message.split('\n', 1)[0]?.replace(/:$/, ''), { cause: error });
  }
}
