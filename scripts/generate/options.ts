import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lines, type GeneratedFile } from './tables.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: { readonly type: string };
}
interface PathItem {
  readonly parameters?: readonly Parameter[];
  readonly [method: string]: unknown;
}
type Option = [name: string, type: string, description: string];

const configMaps = '/api/v1/namespaces/{namespace}/configmaps';
const pod = '/api/v1/namespaces/{namespace}/pods/{name}';

/** Operations whose parameters show an options type. */
const meta: Readonly<Record<string, readonly [path: string, method: string]>> = {
  ListOptions: ['/api/v1/configmaps', 'get'],
  CreateOptions: [configMaps, 'post'],
  UpdateOptions: [`${configMaps}/{name}`, 'put'],
  PatchOptions: [`${configMaps}/{name}`, 'patch'],
  DeleteOptions: [`${configMaps}/{name}`, 'delete'],
};
const core: typeof meta = {
  PodLogOptions: [`${pod}/log`, 'get'],
  PodExecOptions: [`${pod}/exec`, 'get'],
  PodAttachOptions: [`${pod}/attach`, 'get'],
  PodPortForwardOptions: [`${pod}/portforward`, 'get'],
  PodProxyOptions: [`${pod}/proxy`, 'get'],
  ServiceProxyOptions: ['/api/v1/namespaces/{namespace}/services/{name}/proxy', 'get'],
  NodeProxyOptions: ['/api/v1/nodes/{name}/proxy', 'get'],
};

/**
 * Returns the query parameters of the options types with their descriptions, sorted by name, from the document of core v1,
 * because no schema contains these texts. `documents` is the folder of the OpenAPI v3 documents.
 */
export function optionTables(documents: string): GeneratedFile[] {
  const { paths } = JSON.parse(readFileSync(join(documents, 'api__v1_openapi.json'), 'utf8')) as { paths: Record<string, PathItem> };
  const tableOf = (places: typeof meta) =>
    Object.fromEntries(
      Object.entries(places).map(([type, [path, method]]) => {
        const item = paths[path];
        const operation = item?.[method] as { parameters?: Parameter[] } | undefined;
        const options = [...(item?.parameters ?? []), ...(operation?.parameters ?? [])]
          .filter((parameter) => parameter.in === 'query' && parameter.name !== 'pretty')
          .map((parameter): Option => [parameter.name, parameter.schema.type, parameter.description])
          .sort(([a], [b]) => (a < b ? -1 : 1));
        return [type, options];
      }),
    );
  const collection = tableOf(meta);
  return [
    { path: 'src/apimachinery/meta/schema/options.gen.json', content: lines(collection, 2) },
    { path: 'src/kubernetes/schema/options.gen.json', content: lines(tableOf(core), 2) },
  ];
}
