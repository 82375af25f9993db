// Builds the container of a gateway beside an application, and its volumes, from settings and wiring. Pure; the
// manifests for adding it by hand are generated from here, too.

import type { ValueMap } from '../../language/expression/value.ts'
import { SIDECAR_CONTAINER } from '../source/read-pod.ts'
import { DATA_PLANE_SECRET } from '../resource/roles.ts'
import type { Wiring } from './inject-annotations.ts'
import { flagName } from './inject-flags.ts'
import type { SidecarSettings } from './inject-settings.ts'

export interface ContainerOptions {
  readonly settings: SidecarSettings
  readonly wiring: Wiring
  /** The name of the operator in its client certificate, and the owner of documents in gateways. */
  readonly manager: string
  /** The pod's containers share a process namespace among them or with the node: process 1 is not the gateway then. */
  readonly isProcessShared: boolean
  /** The pod bounds all its containers together: a limit of its own could be more than is left. */
  readonly isBoundAsPod: boolean
}

export const MANAGEMENT_PORT = 18081
export const HEALTH_PORT = 18082

const CERTIFICATES = '/etc/svc-gateway/management'
const STATE = '/var/lib/svc-gateway'
const VOLUMES = { certificates: 'svc-gateway-management', state: 'svc-gateway-state' } as const

/** Not root, only memory to write to, no rights: as the restricted Pod Security Standard demands. */
const SECURITY: ValueMap = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  runAsGroup: 65_532,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

/** An init container that keeps running: the application starts once it has started, and ends before it does. */
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
    // The application waits for it. Each failed probe would be a Warning Event, so the port is open from the first
    // moment, and the response is delayed until the result is known.
    startupProbe: {
      ...asks('/ping'),
      initialDelaySeconds: 1,
      periodSeconds: 1,
      timeoutSeconds: 20,
      failureThreshold: 60,
    },
    readinessProbe: {
      ...asks(wiring.readyPath === '/ready' ? '/ready?wait=4' : wiring.readyPath),
      periodSeconds: 2,
      timeoutSeconds: 5,
      failureThreshold: 1,
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

/** The certificate may come later: the gateway starts without it, and opens its management API when it is there. */
export const gatewayVolumes = ({ volumes }: SidecarSettings): readonly ValueMap[] => [
  { name: VOLUMES.certificates, secret: { secretName: DATA_PLANE_SECRET, optional: true } },
  { name: VOLUMES.state, emptyDir: { medium: 'Memory' } },
  ...volumes,
]

const PID_FILE: ValueMap = { name: 'SVC_GATEWAY_PID_FILE', value: `${STATE}/gateway.pid` }

const DRAIN_DELAY = 'SVC_GATEWAY_DRAIN_DELAY_SECONDS'

/** The time to start the process of the preStop hook, and to end in order with it. */
const LEAD_SECONDS = 2

/** Clients that hold a connection or a stream must be disconnected before the application ends. */
const drainDelay = ({ settings, wiring }: ContainerOptions): readonly ValueMap[] => {
  const { appPreStopSeconds: pause, env } = settings
  const isGiven = env.some(({ name }) => name === DRAIN_DELAY)
  if (pause === 0 || !wiring.hasAppPreStop || isGiven) return []
  return [{ name: DRAIN_DELAY, value: String(Math.max(1, pause - LEAD_SECONDS)) }]
}

const asks = (path: string): ValueMap => ({ httpGet: { path, port: 'health' } })

/** A flag that the settings give, too, replaces ours. */
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
