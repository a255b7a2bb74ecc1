import { parse, YAMLParseError } from 'yaml';

/**
 * A configuration file of YAML 1.1 or JSON; aliases are refused. Throws an Error of one line, which says what is wrong and where; the
 * name of the file is the caller's to add.
 */
export function parseYaml(text: string): unknown {
  try {
    return parse(text, { version: '1.1', maxAliasCount: 0 });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    // Behind the first line is the place as a drawing, which a log takes apart.
    throw new Error(error.message.split('\n', 1)[0]?.replace(/:$/, ''), { cause: error });
  }
}
