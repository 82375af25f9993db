// What a gateway beside an application is: a container and its volumes, by settings and wiring. Pure; what writes it
// by hand is generated from here, too.

import type { ValueMap } from '../../language/expression/value.ts'
import { SIDECAR_CONTAINER } from '../source/read-pod.ts'
import { DATA_PLANE_SECRET } from '../resource/roles.ts'
import type { Wiring } from './inject-annotations.ts'
import { flagName } from './inject-flags.ts'
import type { SidecarSettings } from './inject-settings.ts'

export interface ContainerOptions {
  readonly settings: SidecarSettings
  readonly wiring: Wiring
  /** Of the operator: what its client certificate has as a name, and what documents are managed by. */
  readonly manager: string
  /** The pod's containers see each other's processes, or the node's: process 1 is none of ours then. */
  readonly isProcessShared: boolean
  /** The pod bounds all its containers together: an own share could be more than is left. */
  readonly isBoundAsPod: boolean
}

export const MANAGEMENT_PORT = 18081
export const HEALTH_PORT = 18082

const CERTIFICATES = '/etc/svc-gateway/management'
const STATE = '/var/lib/svc-gateway'
const VOLUMES = { certificates: 'svc-gateway-management', state: 'svc-gateway-state' } as const

/** Not root, nothing to write but memory, no rights: as the restricted Pod Security Standard has it. */
const SECURITY: ValueMap = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  runAsGroup: 65_532,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

/**
 * An init container that stays: the application starts once this one has started, and ends before it does.
 */
export const gatewayContainer = (options: ContainerOptions): ValueMap => {
  const { settings, wiring, isProcessShared, isBoundAsPod } = options
  const { imagePullPolicy } = settings
  const env = [...settings.env, ...drainDelay(options), ...(isProcessShared ? [PID_FILE] : [])]
  return {
    name: SIDECAR_CONTAINER,
    image: settings.image,
    ...(imagePullPolicy !== undefined && { imagePullPolicy }),
    restartPolicy: 'Always',
    command: ['svc-gateway'],
    args: [...argsOf(options)],
    ...(env.length > 0 && { env }),
    ports: [
      { name: 'public', containerPort: wiring.port },
      { name: 'management', containerPort: MANAGEMENT_PORT },
      { name: 'health', containerPort: HEALTH_PORT },
    ].map((port) => ({ ...port, protocol: 'TCP' })),
    // The application waits for it. Each probe that fails would be an Event, a warning: the port is open from the first
    // moment, and an answer is held until there is something to say.
    startupProbe: {
      ...asks('/ping'),
      ...{ initialDelaySeconds: 1, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 60 },
    },
    readinessProbe: {
      ...asks(wiring.readyPath === '/ready' ? '/ready?wait=4' : wiring.readyPath),
      ...{ periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 1 },
    },
    livenessProbe: { ...asks('/ping'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    lifecycle: { preStop: { exec: { command: ['svc-gateway', 'drain'] } } },
    ...(!isBoundAsPod && { resources: { ...wiring.resources } }),
    securityContext: SECURITY,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: VOLUMES.certificates, mountPath: CERTIFICATES, readOnly: true },
      { name: VOLUMES.state, mountPath: STATE },
      ...settings.volumeMounts,
    ],
  }
}

/** The certificate may come later: the gateway starts without it, and opens its management API with it. */
export const gatewayVolumes = ({ volumes }: SidecarSettings): readonly ValueMap[] => [
  { name: VOLUMES.certificates, secret: { secretName: DATA_PLANE_SECRET, optional: true } },
  { name: VOLUMES.state, emptyDir: { medium: 'Memory' } },
  ...volumes,
]

const PID_FILE: ValueMap = { name: 'SVC_GATEWAY_PID_FILE', value: `${STATE}/gateway.pid` }

const DRAIN_DELAY = 'SVC_GATEWAY_DRAIN_DELAY_SECONDS'

/** Starting a process for the preStop takes its time, and what ends in order with it. */
const LEAD_SECONDS = 2

/** Clients that hold a connection or a stream must have been let go before the application ends. */
const drainDelay = ({ settings, wiring }: ContainerOptions): readonly ValueMap[] => {
  const { appPreStopSeconds: pause, env } = settings
  const isGiven = env.some(({ name }) => name === DRAIN_DELAY)
  if (pause === 0 || !wiring.hasAppPreStop || isGiven) return []
  return [{ name: DRAIN_DELAY, value: String(Math.max(1, pause - LEAD_SECONDS)) }]
}

const asks = (path: string): ValueMap => ({ httpGet: { path, port: 'health' } })

/** Of a flag that the settings give, too, theirs is taken. */
const argsOf = ({ settings, wiring, manager }: ContainerOptions): readonly string[] => {
  const given = new Set(settings.args.map(flagName))
  const own = [
    `--public=:${wiring.port}`,
    `--management=:${MANAGEMENT_PORT}`,
    `--health=:${HEALTH_PORT}`,
    `--managed=${manager}`,
    `--management-tls-cert=${CERTIFICATES}/tls.crt`,
    `--management-tls-key=${CERTIFICATES}/tls.key`,
    `--management-client-ca=${CERTIFICATES}/ca.crt`,
    `--management-client-name=${manager}`,
    `--state-dir=${STATE}`,
    '--ready-from-snapshot=60',
    ...(wiring.appPorts.length > 0 ? [`--upstream-local-ports=${wiring.appPorts.join()}`] : []),
  ]
  return [...own.filter((arg) => !given.has(flagName(arg))), ...settings.args]
}
