/**
 * Fields of upstream's internal types in order: `GoName type`, or `GoName=v1Name type` if the name in v1 differs in more than its first
 * letter; `+Type` is an embedded struct. Validation messages print values of these types. Upstream: types.go of pkg/apis/core and of
 * pkg/apis/flowcontrol.
 */
export const internalTypes: Readonly<Record<string, string>> = {
  AWSElasticBlockStoreVolumeSource: 'VolumeID string, FSType=fsType string, Partition int, ReadOnly bool',
  Affinity: 'NodeAffinity *NodeAffinity, PodAffinity *PodAffinity, PodAntiAffinity *PodAntiAffinity',
  AppArmorProfile: 'Type string, LocalhostProfile *string',
  AzureDiskVolumeSource:
    'DiskName string, DataDiskURI=diskURI string, CachingMode *string, FSType=fsType *string, ReadOnly *bool, Kind *string',
  AzureFilePersistentVolumeSource: 'SecretName string, ShareName string, ReadOnly bool, SecretNamespace *string',
  AzureFileVolumeSource: 'SecretName string, ShareName string, ReadOnly bool',
  CSIPersistentVolumeSource:
    'Driver string, VolumeHandle string, ReadOnly bool, FSType=fsType string, VolumeAttributes map, ' +
    'ControllerPublishSecretRef *SecretReference, NodeStageSecretRef *SecretReference, NodePublishSecretRef *SecretReference, ' +
    'ControllerExpandSecretRef *SecretReference, NodeExpandSecretRef *SecretReference',
  CSIVolumeSource: 'Driver string, ReadOnly *bool, FSType=fsType *string, VolumeAttributes map, NodePublishSecretRef *LocalObjectReference',
  Capabilities: 'Add []string, Drop []string',
  CephFSPersistentVolumeSource: 'Monitors []string, Path string, User string, SecretFile string, SecretRef *SecretReference, ReadOnly bool',
  CephFSVolumeSource: 'Monitors []string, Path string, User string, SecretFile string, SecretRef *LocalObjectReference, ReadOnly bool',
  CinderPersistentVolumeSource: 'VolumeID string, FSType=fsType string, ReadOnly bool, SecretRef *SecretReference',
  CinderVolumeSource: 'VolumeID string, FSType=fsType string, ReadOnly bool, SecretRef *LocalObjectReference',
  ClusterTrustBundleProjection: 'Name *string, SignerName *string, LabelSelector *LabelSelector, Optional *bool, Path string',
  ConfigMapEnvSource: '+LocalObjectReference, Optional *bool',
  ConfigMapKeySelector: '+LocalObjectReference, Key string, Optional *bool',
  ConfigMapNodeConfigSource: 'Namespace string, Name string, UID=uid string, ResourceVersion string, KubeletConfigKey string',
  ConfigMapProjection: '+LocalObjectReference, Items []KeyToPath, Optional *bool',
  ConfigMapVolumeSource: '+LocalObjectReference, Items []KeyToPath, DefaultMode *int, Optional *bool',
  Container:
    'Name string, Image string, Command []string, Args []string, WorkingDir string, Ports []ContainerPort, EnvFrom []EnvFromSource, ' +
    'Env []EnvVar, Resources ResourceRequirements, ResizePolicy []ContainerResizePolicy, RestartPolicy *string, ' +
    'RestartPolicyRules []ContainerRestartRule, VolumeMounts []VolumeMount, VolumeDevices []VolumeDevice, LivenessProbe *Probe, ' +
    'ReadinessProbe *Probe, StartupProbe *Probe, Lifecycle *Lifecycle, TerminationMessagePath string, ' +
    'TerminationMessagePolicy string, ImagePullPolicy string, SecurityContext *SecurityContext, Stdin bool, StdinOnce bool, ' +
    'TTY=tty bool',
  ContainerPort: 'Name string, HostPort int, ContainerPort int, Protocol string, HostIP string',
  ContainerResizePolicy: 'ResourceName string, RestartPolicy string',
  ContainerRestartRule: 'Action string, ExitCodes *ContainerRestartRuleOnExitCodes',
  ContainerRestartRuleOnExitCodes: 'Operator string, Values []int',
  DownwardAPIProjection: 'Items []DownwardAPIVolumeFile',
  DownwardAPIVolumeFile: 'Path string, FieldRef *ObjectFieldSelector, ResourceFieldRef *ResourceFieldSelector, Mode *int',
  DownwardAPIVolumeSource: 'Items []DownwardAPIVolumeFile, DefaultMode *int',
  EmptyDirVolumeSource: 'Medium string, SizeLimit *Quantity',
  EnvFromSource: 'Prefix string, ConfigMapRef *ConfigMapEnvSource, SecretRef *SecretEnvSource',
  EnvVar: 'Name string, Value string, ValueFrom *EnvVarSource',
  EnvVarSource:
    'FieldRef *ObjectFieldSelector, ResourceFieldRef *ResourceFieldSelector, ConfigMapKeyRef *ConfigMapKeySelector, ' +
    'SecretKeyRef *SecretKeySelector, FileKeyRef *FileKeySelector',
  EphemeralContainer: '+EphemeralContainerCommon, TargetContainerName string',
  EphemeralContainerCommon:
    'Name string, Image string, Command []string, Args []string, WorkingDir string, Ports []ContainerPort, EnvFrom []EnvFromSource, ' +
    'Env []EnvVar, Resources ResourceRequirements, ResizePolicy []ContainerResizePolicy, RestartPolicy *string, ' +
    'RestartPolicyRules []ContainerRestartRule, VolumeMounts []VolumeMount, VolumeDevices []VolumeDevice, LivenessProbe *Probe, ' +
    'ReadinessProbe *Probe, StartupProbe *Probe, Lifecycle *Lifecycle, TerminationMessagePath string, ' +
    'TerminationMessagePolicy string, ImagePullPolicy string, SecurityContext *SecurityContext, Stdin bool, StdinOnce bool, ' +
    'TTY=tty bool',
  EphemeralVolumeSource: 'VolumeClaimTemplate *PersistentVolumeClaimTemplate',
  ExecAction: 'Command []string',
  ExemptPriorityLevelConfiguration: 'NominalConcurrencyShares *int, LendablePercent *int',
  FCVolumeSource: 'TargetWWNs []string, Lun *int, FSType=fsType string, ReadOnly bool, WWIDs=wwids []string',
  FileKeySelector: 'VolumeName string, Path string, Key string, Optional *bool',
  FlexPersistentVolumeSource: 'Driver string, FSType=fsType string, SecretRef *SecretReference, ReadOnly bool, Options map',
  FlexVolumeSource: 'Driver string, FSType=fsType string, SecretRef *LocalObjectReference, ReadOnly bool, Options map',
  FlockerVolumeSource: 'DatasetName string, DatasetUUID string',
  FlowDistinguisherMethod: 'Type string',
  FlowSchemaSpec:
    'PriorityLevelConfiguration PriorityLevelConfigurationReference, MatchingPrecedence int, DistinguisherMethod *FlowDistinguisherMethod, Rules []PolicyRulesWithSubjects',
  GCEPersistentDiskVolumeSource: 'PDName=pdName string, FSType=fsType string, Partition int, ReadOnly bool',
  GRPCAction: 'Port int, Service *string',
  GitRepoVolumeSource: 'Repository string, Revision string, Directory string',
  GlusterfsPersistentVolumeSource: 'EndpointsName=endpoints string, Path string, ReadOnly bool, EndpointsNamespace *string',
  GlusterfsVolumeSource: 'EndpointsName=endpoints string, Path string, ReadOnly bool',
  GroupSubject: 'Name string',
  HTTPGetAction: 'Path string, Port IntOrString, Host string, Scheme string, HTTPHeaders=httpHeaders []HTTPHeader',
  HTTPHeader: 'Name string, Value string',
  HostAlias: 'IP=ip string, Hostnames []string',
  HostIP: 'IP=ip string',
  HostPathVolumeSource: 'Path string, Type *string',
  ISCSIPersistentVolumeSource:
    'TargetPortal string, IQN=iqn string, Lun int, ISCSIInterface=iscsiInterface string, FSType=fsType string, ReadOnly bool, ' +
    'Portals []string, DiscoveryCHAPAuth=chapAuthDiscovery bool, SessionCHAPAuth=chapAuthSession bool, SecretRef *SecretReference, ' +
    'InitiatorName *string',
  ISCSIVolumeSource:
    'TargetPortal string, IQN=iqn string, Lun int, ISCSIInterface=iscsiInterface string, FSType=fsType string, ReadOnly bool, ' +
    'Portals []string, DiscoveryCHAPAuth=chapAuthDiscovery bool, SessionCHAPAuth=chapAuthSession bool, ' +
    'SecretRef *LocalObjectReference, InitiatorName *string',
  ImageVolumeSource: 'Reference string, PullPolicy string',
  KeyToPath: 'Key string, Path string, Mode *int',
  Lifecycle: 'PostStart *LifecycleHandler, PreStop *LifecycleHandler, StopSignal *string',
  LifecycleHandler: 'Exec *ExecAction, HTTPGet=httpGet *HTTPGetAction, TCPSocket=tcpSocket *TCPSocketAction, Sleep *SleepAction',
  LimitResponse: 'Type string, Queuing *QueuingConfiguration',
  LimitedPriorityLevelConfiguration:
    'NominalConcurrencyShares int, LimitResponse LimitResponse, LendablePercent *int, BorrowingLimitPercent *int',
  LocalObjectReference: 'Name string',
  LocalVolumeSource: 'Path string, FSType=fsType *string',
  NFSVolumeSource: 'Server string, Path string, ReadOnly bool',
  NodeAddress: 'Type string, Address string',
  NodeAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution *NodeSelector, ' +
    'PreferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm',
  NodeConfigSource: 'ConfigMap *ConfigMapNodeConfigSource',
  NodeSelector: 'NodeSelectorTerms []NodeSelectorTerm',
  NodeSelectorRequirement: 'Key string, Operator string, Values []string',
  NodeSelectorTerm: 'MatchExpressions []NodeSelectorRequirement, MatchFields []NodeSelectorRequirement',
  NonResourcePolicyRule: 'Verbs []string, NonResourceURLs []string',
  ObjectFieldSelector: 'APIVersion=apiVersion string, FieldPath string',
  ObjectReference:
    'Kind string, Namespace string, Name string, UID=uid string, APIVersion=apiVersion string, ResourceVersion string, ' +
    'FieldPath string',
  PersistentVolumeClaimSpec:
    'AccessModes []string, Selector *LabelSelector, Resources VolumeResourceRequirements, VolumeName string, ' +
    'StorageClassName *string, VolumeMode *string, DataSource *TypedLocalObjectReference, DataSourceRef *TypedObjectReference, ' +
    'VolumeAttributesClassName *string',
  PersistentVolumeClaimTemplate: '+ObjectMeta, Spec PersistentVolumeClaimSpec',
  PersistentVolumeClaimVolumeSource: 'ClaimName string, ReadOnly bool',
  PersistentVolumeSpec:
    'Capacity map, +PersistentVolumeSource, AccessModes []string, ClaimRef *ObjectReference, PersistentVolumeReclaimPolicy string, ' +
    'StorageClassName string, MountOptions []string, VolumeMode *string, NodeAffinity *VolumeNodeAffinity, VolumeAttributesClassName *string',
  PersistentVolumeSource:
    'GCEPersistentDisk=gcePersistentDisk *GCEPersistentDiskVolumeSource, ' +
    'AWSElasticBlockStore=awsElasticBlockStore *AWSElasticBlockStoreVolumeSource, HostPath *HostPathVolumeSource, ' +
    'Glusterfs *GlusterfsPersistentVolumeSource, NFS=nfs *NFSVolumeSource, RBD=rbd *RBDPersistentVolumeSource, ' +
    'Quobyte *QuobyteVolumeSource, ISCSI=iscsi *ISCSIPersistentVolumeSource, FlexVolume *FlexPersistentVolumeSource, ' +
    'Cinder *CinderPersistentVolumeSource, CephFS=cephfs *CephFSPersistentVolumeSource, FC=fc *FCVolumeSource, ' +
    'Flocker *FlockerVolumeSource, AzureFile *AzureFilePersistentVolumeSource, VsphereVolume *VsphereVirtualDiskVolumeSource, ' +
    'AzureDisk *AzureDiskVolumeSource, PhotonPersistentDisk *PhotonPersistentDiskVolumeSource, ' +
    'PortworxVolume *PortworxVolumeSource, ScaleIO *ScaleIOPersistentVolumeSource, Local *LocalVolumeSource, ' +
    'StorageOS=storageos *StorageOSPersistentVolumeSource, CSI=csi *CSIPersistentVolumeSource',
  PhotonPersistentDiskVolumeSource: 'PdID string, FSType=fsType string',
  PodAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, ' +
    'PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm',
  PodAffinityTerm:
    'LabelSelector *LabelSelector, Namespaces []string, TopologyKey string, NamespaceSelector *LabelSelector, ' +
    'MatchLabelKeys []string, MismatchLabelKeys []string',
  PodAntiAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, ' +
    'PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm',
  PodCertificateProjection:
    'SignerName string, KeyType string, MaxExpirationSeconds *int, CredentialBundlePath string, KeyPath string, ' +
    'CertificateChainPath string, UserAnnotations map',
  PodDNSConfig: 'Nameservers []string, Searches []string, Options []PodDNSConfigOption',
  PodDNSConfigOption: 'Name string, Value *string',
  PodIP: 'IP=ip string',
  PodOS: 'Name string',
  PodReadinessGate: 'ConditionType string',
  PodResourceClaim: 'Name string, ResourceClaimName *string, ResourceClaimTemplateName *string',
  PodSchedulingGate: 'Name string',
  PodSchedulingGroup: 'PodGroupName *string',
  PodSecurityContext:
    'HostNetwork bool, HostPID bool, HostIPC bool, ShareProcessNamespace *bool, HostUsers *bool, ' +
    'SELinuxOptions=seLinuxOptions *SELinuxOptions, WindowsOptions *WindowsSecurityContextOptions, RunAsUser *int, RunAsGroup *int, ' +
    'RunAsNonRoot *bool, SupplementalGroups []int, SupplementalGroupsPolicy *string, FSGroup=fsGroup *int, ' +
    'FSGroupChangePolicy=fsGroupChangePolicy *string, Sysctls []Sysctl, SeccompProfile *SeccompProfile, ' +
    'AppArmorProfile *AppArmorProfile, SELinuxChangePolicy=seLinuxChangePolicy *string',
  PodSpec:
    'Volumes []Volume, InitContainers []Container, Containers []Container, EphemeralContainers []EphemeralContainer, ' +
    'RestartPolicy string, TerminationGracePeriodSeconds *int, ActiveDeadlineSeconds *int, DNSPolicy=dnsPolicy string, ' +
    'NodeSelector map, ServiceAccountName string, AutomountServiceAccountToken *bool, NodeName string, ' +
    'SecurityContext *PodSecurityContext, ImagePullSecrets []LocalObjectReference, Hostname string, Subdomain string, ' +
    'SetHostnameAsFQDN *bool, Affinity *Affinity, SchedulerName string, Tolerations []Toleration, HostAliases []HostAlias, ' +
    'PriorityClassName string, Priority *int, PreemptionPolicy *string, DNSConfig=dnsConfig *PodDNSConfig, ' +
    'ReadinessGates []PodReadinessGate, RuntimeClassName *string, Overhead map, EnableServiceLinks *bool, ' +
    'TopologySpreadConstraints []TopologySpreadConstraint, OS=os *PodOS, SchedulingGates []PodSchedulingGate, ' +
    'ResourceClaims []PodResourceClaim, Resources *ResourceRequirements, HostnameOverride *string, ' +
    'SchedulingGroup *PodSchedulingGroup',
  PolicyRulesWithSubjects: 'Subjects []Subject, ResourceRules []ResourcePolicyRule, NonResourceRules []NonResourcePolicyRule',
  PortworxVolumeSource: 'VolumeID string, FSType=fsType string, ReadOnly bool',
  PreferredSchedulingTerm: 'Weight int, Preference NodeSelectorTerm',
  PriorityLevelConfigurationReference: 'Name string',
  PriorityLevelConfigurationSpec: 'Type string, Limited *LimitedPriorityLevelConfiguration, Exempt *ExemptPriorityLevelConfiguration',
  Probe:
    '+ProbeHandler, InitialDelaySeconds int, TimeoutSeconds int, PeriodSeconds int, SuccessThreshold int, FailureThreshold int, ' +
    'TerminationGracePeriodSeconds *int',
  ProbeHandler: 'Exec *ExecAction, HTTPGet=httpGet *HTTPGetAction, TCPSocket=tcpSocket *TCPSocketAction, GRPC=grpc *GRPCAction',
  ProjectedVolumeSource: 'Sources []VolumeProjection, DefaultMode *int',
  QueuingConfiguration: 'Queues int, HandSize int, QueueLengthLimit int',
  QuobyteVolumeSource: 'Registry string, Volume string, ReadOnly bool, User string, Group string, Tenant string',
  RBDPersistentVolumeSource:
    'CephMonitors=monitors []string, RBDImage=image string, FSType=fsType string, RBDPool=pool string, RadosUser=user string, ' +
    'Keyring string, SecretRef *SecretReference, ReadOnly bool',
  RBDVolumeSource:
    'CephMonitors=monitors []string, RBDImage=image string, FSType=fsType string, RBDPool=pool string, RadosUser=user string, ' +
    'Keyring string, SecretRef *LocalObjectReference, ReadOnly bool',
  ResourceClaim: 'Name string, Request string',
  ResourceFieldSelector: 'ContainerName string, Resource string, Divisor Quantity',
  ResourcePolicyRule: 'Verbs []string, APIGroups=apiGroups []string, Resources []string, ClusterScope bool, Namespaces []string',
  ResourceRequirements: 'Limits map, Requests map, Claims []ResourceClaim',
  SELinuxOptions: 'User string, Role string, Type string, Level string',
  ScaleIOPersistentVolumeSource:
    'Gateway string, System string, SecretRef *SecretReference, SSLEnabled=sslEnabled bool, ProtectionDomain string, ' +
    'StoragePool string, StorageMode string, VolumeName string, FSType=fsType string, ReadOnly bool',
  ScaleIOVolumeSource:
    'Gateway string, System string, SecretRef *LocalObjectReference, SSLEnabled=sslEnabled bool, ProtectionDomain string, ' +
    'StoragePool string, StorageMode string, VolumeName string, FSType=fsType string, ReadOnly bool',
  ScopeSelector: 'MatchExpressions []ScopedResourceSelectorRequirement',
  ScopedResourceSelectorRequirement: 'ScopeName string, Operator string, Values []string',
  SeccompProfile: 'Type string, LocalhostProfile *string',
  SecretEnvSource: '+LocalObjectReference, Optional *bool',
  SecretKeySelector: '+LocalObjectReference, Key string, Optional *bool',
  SecretProjection: '+LocalObjectReference, Items []KeyToPath, Optional *bool',
  SecretReference: 'Name string, Namespace string',
  SecretVolumeSource: 'SecretName string, Items []KeyToPath, DefaultMode *int, Optional *bool',
  SecurityContext:
    'Capabilities *Capabilities, Privileged *bool, SELinuxOptions=seLinuxOptions *SELinuxOptions, ' +
    'WindowsOptions *WindowsSecurityContextOptions, RunAsUser *int, RunAsGroup *int, RunAsNonRoot *bool, ' +
    'ReadOnlyRootFilesystem *bool, AllowPrivilegeEscalation *bool, ProcMount *string, SeccompProfile *SeccompProfile, ' +
    'AppArmorProfile *AppArmorProfile',
  ServiceAccountSubject: 'Namespace string, Name string',
  ServiceAccountTokenProjection: 'Audience string, ExpirationSeconds int, Path string',
  ServicePort: 'Name string, Protocol string, AppProtocol *string, Port int, TargetPort IntOrString, NodePort int',
  SleepAction: 'Seconds int',
  StorageOSPersistentVolumeSource:
    'VolumeName string, VolumeNamespace string, FSType=fsType string, ReadOnly bool, SecretRef *ObjectReference',
  StorageOSVolumeSource: 'VolumeName string, VolumeNamespace string, FSType=fsType string, ReadOnly bool, SecretRef *LocalObjectReference',
  Subject: 'Kind string, User *UserSubject, Group *GroupSubject, ServiceAccount *ServiceAccountSubject',
  Sysctl: 'Name string, Value string',
  TCPSocketAction: 'Port IntOrString, Host string',
  Taint: 'Key string, Value string, Effect string, TimeAdded *Time',
  Toleration: 'Key string, Operator string, Value string, Effect string, TolerationSeconds *int',
  TopologySpreadConstraint:
    'MaxSkew int, TopologyKey string, WhenUnsatisfiable string, LabelSelector *LabelSelector, MinDomains *int, ' +
    'NodeAffinityPolicy *string, NodeTaintsPolicy *string, MatchLabelKeys []string',
  TypedLocalObjectReference: 'APIGroup=apiGroup *string, Kind string, Name string',
  TypedObjectReference: 'APIGroup=apiGroup *string, Kind string, Name string, Namespace *string',
  UserSubject: 'Name string',
  Volume: 'Name string, +VolumeSource',
  VolumeDevice: 'Name string, DevicePath string',
  VolumeMount:
    'Name string, ReadOnly bool, RecursiveReadOnly *string, MountPath string, SubPath string, MountPropagation *string, ' +
    'SubPathExpr string',
  VolumeNodeAffinity: 'Required *NodeSelector',
  VolumeProjection:
    'Secret *SecretProjection, DownwardAPI *DownwardAPIProjection, ConfigMap *ConfigMapProjection, ' +
    'ServiceAccountToken *ServiceAccountTokenProjection, ClusterTrustBundle *ClusterTrustBundleProjection, ' +
    'PodCertificate *PodCertificateProjection',
  VolumeResourceRequirements: 'Limits map, Requests map',
  VolumeSource:
    'HostPath *HostPathVolumeSource, EmptyDir *EmptyDirVolumeSource, ' +
    'GCEPersistentDisk=gcePersistentDisk *GCEPersistentDiskVolumeSource, ' +
    'AWSElasticBlockStore=awsElasticBlockStore *AWSElasticBlockStoreVolumeSource, GitRepo *GitRepoVolumeSource, ' +
    'Secret *SecretVolumeSource, NFS=nfs *NFSVolumeSource, ISCSI=iscsi *ISCSIVolumeSource, Glusterfs *GlusterfsVolumeSource, ' +
    'PersistentVolumeClaim *PersistentVolumeClaimVolumeSource, RBD=rbd *RBDVolumeSource, Quobyte *QuobyteVolumeSource, ' +
    'FlexVolume *FlexVolumeSource, Cinder *CinderVolumeSource, CephFS=cephfs *CephFSVolumeSource, Flocker *FlockerVolumeSource, ' +
    'DownwardAPI *DownwardAPIVolumeSource, FC=fc *FCVolumeSource, AzureFile *AzureFileVolumeSource, ' +
    'ConfigMap *ConfigMapVolumeSource, VsphereVolume *VsphereVirtualDiskVolumeSource, AzureDisk *AzureDiskVolumeSource, ' +
    'PhotonPersistentDisk *PhotonPersistentDiskVolumeSource, Projected *ProjectedVolumeSource, ' +
    'PortworxVolume *PortworxVolumeSource, ScaleIO *ScaleIOVolumeSource, StorageOS=storageos *StorageOSVolumeSource, ' +
    'CSI=csi *CSIVolumeSource, Ephemeral *EphemeralVolumeSource, Image *ImageVolumeSource',
  VsphereVirtualDiskVolumeSource: 'VolumePath string, FSType=fsType string, StoragePolicyName string, StoragePolicyID string',
  WeightedPodAffinityTerm: 'Weight int, PodAffinityTerm PodAffinityTerm',
  WindowsSecurityContextOptions:
    'GMSACredentialSpecName=gmsaCredentialSpecName *string, GMSACredentialSpec=gmsaCredentialSpec *string, RunAsUserName *string, ' +
    'HostProcess *bool',
};
