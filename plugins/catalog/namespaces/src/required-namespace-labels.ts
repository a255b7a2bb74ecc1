import { AdmissionPlugin, type Attributes, Configuration, inject, labelOf } from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { type EntryCheck, entryCheckOf, RequiredEntry } from '../../common/configuration.ts';
import { denyFor, newProblems } from '../../common/deny.ts';

export class RequiredNamespaceLabelsConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => RequiredEntry)
  labels: RequiredEntry[] = [];
}

/** Names of the namespaces that the server creates. */
const ofServer = new Set(['default', 'kube-node-lease', 'kube-public', 'kube-system']);

/** Denies namespaces without the required labels. The namespaces that the server creates need none. */
@AdmissionPlugin({
  name: 'RequiredNamespaceLabels',
  configuration: RequiredNamespaceLabelsConfiguration,
  // Both subresources can change labels, too.
  match: [{ groups: [''], resources: ['namespaces'], subresources: ['', 'finalize', 'status'], operations: ['CREATE', 'UPDATE'] }],
})
export class RequiredNamespaceLabels {
  readonly #check: EntryCheck;

  constructor(@inject(Configuration) { labels }: RequiredNamespaceLabelsConfiguration) {
    this.#check = entryCheckOf('label', labels);
  }

  validate(request: Attributes): void {
    const { object, name } = request;
    if (object.metadata.deletionTimestamp !== undefined || ofServer.has(name)) return;
    denyFor(
      request,
      newProblems(request, (one) => this.#check((key) => labelOf(one, key))),
    );
  }
}
