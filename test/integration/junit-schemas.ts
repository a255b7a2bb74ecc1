/** The rules of a schema for an element. */
interface ElementRule {
  /** Patterns of the values of attributes; others are not permitted. */
  readonly attributes: Readonly<Record<string, RegExp>>;
  readonly required: readonly string[];
  /** Pattern of the names of the elements in it, each followed by a space. */
  readonly elements: RegExp;
  readonly hasText?: boolean;
}

/** A schema: rules by the path of an element, without the root for those that may stand anywhere. */
export type JunitSchema = Readonly<Record<string, ElementRule>>;

const any = /^/;
const token = /^\S+( \S+)*$/;
const integer = /^-?\d+$/;
const decimal = /^-?\d+(\.\d+)?$/;
const surefireTime = /^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$/;
const none = /^$/;

const outcome = { attributes: { type: any, message: any }, required: [], elements: none, hasText: true };
const output = { attributes: {}, required: [], elements: none, hasText: true };

/**
 * The rules of junit-10.xsd of Jenkins' xUnit plugin (src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd), without those for
 * reruns.
 */
export const jenkinsSchema: JunitSchema = {
  testsuites: {
    attributes: { name: any, time: surefireTime, tests: any, failures: any, errors: any },
    required: [],
    elements: /^(testsuite )*$/,
  },
  testsuite: {
    attributes: {
      ...{ name: any, tests: any, failures: any, errors: any, group: any, time: surefireTime, skipped: any, timestamp: any },
      ...{ hostname: any, id: any, package: any, file: any, log: any, url: any },
    },
    required: ['name', 'tests', 'failures', 'errors'],
    elements: /^((testsuite|properties|testcase|system-out|system-err) )*$/,
  },
  properties: { attributes: {}, required: [], elements: /^(property )*$/ },
  property: { attributes: { name: any, value: any }, required: ['name', 'value'], elements: none },
  testcase: {
    attributes: { name: any, time: any, classname: any, group: any },
    required: ['name'],
    elements: /^((skipped|error|failure|system-out|system-err) )*$/,
  },
  failure: outcome,
  error: outcome,
  skipped: outcome,
  'system-out': output,
  'system-err': output,
};

/** The rules of JUnit.xsd of github.com/windyroad/JUnit-Schema. */
export const windyRoadSchema: JunitSchema = {
  testsuites: { attributes: {}, required: [], elements: /^(testsuite )*$/ },
  testsuite: {
    attributes: {
      ...{ package: token, id: integer, name: token, timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/, hostname: token },
      ...{ tests: integer, failures: integer, errors: integer, skipped: integer, time: decimal },
    },
    required: ['package', 'id', 'name', 'timestamp', 'hostname', 'tests', 'failures', 'errors', 'time'],
    elements: /^properties (testcase )*system-out system-err $/,
  },
  properties: { attributes: {}, required: [], elements: /^(property )*$/ },
  property: { attributes: { name: token, value: any }, required: ['name', 'value'], elements: none },
  testcase: {
    attributes: { name: any, classname: any, time: decimal },
    required: ['name', 'classname', 'time'],
    elements: /^((skipped|error|failure) )?$/,
  },
  failure: { ...outcome, required: ['type'] },
  error: { ...outcome, required: ['type'] },
  skipped: { attributes: {}, required: [], elements: any, hasText: true },
  'system-out': output,
  'system-err': output,
};

interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly elements: XmlElement[];
  text: string;
}

/** Returns what a document violates of a schema. Reads the XML that reports consist of: elements, attributes, text. */
export function violations(xml: string, schema: JunitSchema): string[] {
  const document: XmlElement = { name: '', attributes: {}, elements: [], text: '' };
  const open = [document];
  const tag = /<\?[^?]*\?>|<\/([\w-]+)>|<([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|([^<]+)|</g;
  for (const [piece, ended, begun, attributes = '', isEmpty, text] of xml.matchAll(tag)) {
    const inner = open.at(-1) as XmlElement;
    if (piece === '<') throw new Error('the XML is malformed');
    if (text !== undefined) inner.text += text;
    if (ended !== undefined && open.pop()?.name !== ended) throw new Error(`</${ended}> ends another element`);
    if (begun === undefined) continue;
    const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
    const element: XmlElement = { name: begun, attributes: Object.fromEntries(pairs), elements: [], text: '' };
    inner.elements.push(element);
    if (!isEmpty) open.push(element);
  }
  if (open.length !== 1 || document.elements.length !== 1) throw new Error('the XML does not have one root element');
  return document.elements.flatMap((root) => elementViolations(root, schema));
}

function elementViolations({ name, attributes, elements, text }: XmlElement, schema: JunitSchema): string[] {
  const rule = schema[name];
  if (!rule) return [`unknown element ${name}`];
  const found = rule.required.filter((one) => attributes[one] === undefined).map((one) => `${name} without ${one}`);
  for (const [attribute, value] of Object.entries(attributes))
    if (!rule.attributes[attribute]?.test(value)) found.push(`${name} with ${attribute}=${JSON.stringify(value)}`);
  const inner = elements.map((element) => `${element.name} `).join('');
  if (!rule.elements.test(inner)) found.push(`${name} with the elements ${inner}`);
  if (!rule.hasText && text.trim() !== '') found.push(`${name} with text`);
  return [...found, ...elements.flatMap((element) => elementViolations(element, schema))];
}
