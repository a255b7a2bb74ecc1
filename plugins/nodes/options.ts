import {
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  Type,
  ValidateNested,
} from 'kubenest/sdk/configuration';
import type { StageObject } from './stages/stage-types.ts';

/** A taint of a shape's nodes. */
export class NodeTaint {
  @IsString()
  key = '';

  @IsOptional()
  @IsString()
  value?: string;

  @Matches(/^(NoSchedule|PreferNoSchedule|NoExecute)$/, { message: 'effect must be NoSchedule, PreferNoSchedule or NoExecute' })
  effect = 'NoSchedule';
}

/** A number of equal nodes. */
export class NodeShape {
  @IsInt()
  @Min(1)
  @Max(5_000)
  count = 1;

  /** Nodes are named by the prefix and a number from 1 on. */
  @Matches(/^[a-z0-9]([a-z0-9.-]{0,49})$/, { message: 'namePrefix must be the start of a DNS name of at most 50 characters' })
  namePrefix = 'node-';

  /** Quantities by resource name, in addition to the defaults: 32 CPU, 256Gi of memory, 1Ti of ephemeral storage, 1,000 pods. */
  @IsObject()
  capacity: Record<string, string> = {};

  @IsObject()
  labels: Record<string, string> = {};

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => NodeTaint)
  taints: NodeTaint[] = [];

  /** Zones (label `topology.kubernetes.io/zone`), given to the nodes in turn. */
  @IsArray()
  @IsString({ each: true })
  zones: string[] = [];
}

/** Certificates of the kubelets, and the client that they serve. */
export class KubeletCertificates {
  /** Serving certificate with its chain, in PEM. */
  @IsString()
  cert = '';

  @IsString()
  key = '';

  /** Authorities of client certificates, in PEM. */
  @IsString()
  clientAuthorities = '';

  /** Common name of the API server's client certificate. Beside it, only members of system:masters may use the kubelets. */
  @IsString()
  clientName = '';

  /** Ports on which the kubelets listen at the moment, for the API server. */
  ports?: Set<number>;
}

/** Configuration of the simulated nodes. */
export class SimulatedNodesOptions {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => NodeShape)
  nodes: NodeShape[] = [];

  /** True if pods have the events of a real kubelet (Pulled, Created, Started, Killing). */
  @IsBoolean()
  events = true;

  /**
   * Stages of pods: objects of the kind Stage of kwok.x-k8s.io/v1alpha1. Where none of them matches, a pod has the built-in life. CEL, `apply`,
   * impersonation and stages of other kinds are refused.
   */
  @IsArray()
  @IsObject({ each: true })
  stages: StageObject[] = [];

  /** Ports of 127.0.0.1 to which the annotation `port-forward` of a pod may forward. */
  @IsArray()
  @IsInt({ each: true })
  forwardPorts: number[] = [];

  /** Without it, the nodes answer neither logs, exec, attach nor port-forward. */
  @IsOptional()
  @ValidateNested()
  @Type(() => KubeletCertificates)
  kubelet?: KubeletCertificates;
}
