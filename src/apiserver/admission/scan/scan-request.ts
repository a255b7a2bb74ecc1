import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import type { Pace } from '#apimachinery/runtime/pace';
import type { PacedAttributes } from '#apiserver/admission/plugin-boundary';
import { Reinvocation } from '#apiserver/admission/reinvocation';
import type { AdmissionTarget } from '#apiserver/admission/request-admission';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Verdict, VerdictRecorder } from './verdict.ts';

/** The verdicts of one plugin on one object. */
class Verdicts implements VerdictRecorder {
  readonly all: Verdict[] = [];
  /** True if the plugin has no policy for the object. */
  areNone = false;

  constructor(private readonly known: ReadonlySet<string>) {}

  isKnown(policy: string): boolean {
    return this.known.has(policy);
  }

  record(verdict: Verdict): void {
    // An evaluation that yielded starts again and repeats its verdicts.
    if (!this.all.some((known) => deepEqual(known, verdict))) this.all.push(verdict);
  }

  recordNone(): void {
    this.areNone = true;
  }
}

/** The write that a scan assumes. */
export interface AssumedWrite {
  readonly operation: 'CREATE' | 'UPDATE';
  readonly user: UserInfo;
  readonly pace: Pace | undefined;
  /** Policies of the plugin that have a verdict from another assumed write of the object. */
  readonly known?: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/** Attributes of the write of a stored object that a scan assumes. It collects the verdicts and warnings of one plugin. */
export class ScanRequest implements PacedAttributes {
  readonly verdicts: Verdicts;
  readonly warnings: string[] = [];
  readonly operation: 'CREATE' | 'UPDATE';
  readonly kind: PacedAttributes['kind'];
  readonly resource: PacedAttributes['resource'];
  readonly subresource = '';
  readonly namespace: string;
  readonly name: string;
  readonly oldObject: KubeObject | undefined;
  readonly options = {};
  readonly dryRun = true;
  readonly user: UserInfo;
  readonly forms: PacedAttributes['forms'];
  readonly pace: Pace | undefined;
  readonly reinvocation = new Reinvocation();
  readonly deadline = 0;

  constructor(
    target: AdmissionTarget,
    readonly object: KubeObject,
    { operation, user, pace, known = none }: AssumedWrite,
  ) {
    const { name = '', namespace = '' } = object.metadata;
    this.verdicts = new Verdicts(known);
    this.operation = operation;
    this.kind = target.kind;
    this.resource = target.resource;
    // Requests of a namespace are in that namespace.
    this.namespace = target.resource.group === '' && target.resource.resource === 'namespaces' ? name : namespace;
    this.name = name;
    this.oldObject = operation === 'UPDATE' ? object : undefined;
    this.user = user;
    this.forms = target.forms;
    this.pace = pace;
  }

  addWarning(text: string): void {
    this.warnings.push(text);
  }

  /** Annotations of audit events are not needed: plugins record their verdicts. */
  addAnnotation(): void {}
}
