import { describe, expect, it } from '@jest/globals'
import { readOperatorSettings } from '../../operator/config.ts'

const read = (...argv: readonly string[]): ReturnType<typeof readOperatorSettings> =>
  readOperatorSettings(argv, {}, () => '')

describe('settings of the operator', () => {
  it('have defaults that fit a gateway on the same machine', () => {
    expect(read('--manifests', 'x')).toMatchObject({
      kind: 'settings',
      settings: {
        manifests: 'x',
        dataPlanes: ['http://127.0.0.1:18081'],
        manager: 'svc-operator',
        status: { kind: 'tcp', host: '127.0.0.1', port: 18085 },
        once: false,
      },
    })
  })

  it.each([
    [[], /--manifests: name the directory/],
    [
      ['--manifests', 'x', '--data-planes', 'http://10.0.0.1:1'],
      /'http:\/\/10.0.0.1:1': http is for loopback only/,
    ],
    [['--manifests', 'x', '--data-planes', 'http://127.0.0.1:1,http://127.0.0.1:1'], /named twice/],
    [['--manifests', 'x', '--data-planes', ''], /--data-planes/],
    [['--manifests', 'x', '--status', 'nowhere'], /--status/],
    [['--manifests', 'x', '--management-cert', 'c'], /--management-key/],
    [['--manifests', 'x', '--kubernetes'], /cannot be combined/],
    [['--kubernetes', '--once'], /--once/],
    [['--kubeconfig', 'x'], /needs --kubernetes/],
    [['--kubernetes', '--webhook-url', 'http://a'], /--webhook-url/],
    [['--kubernetes', '--webhook-url', 'nowhere'], /--webhook-url/],
    [['--kubernetes', '--webhook-url', 'https://a/validate'], /--webhook-url/],
    [['--kubernetes', '--health', 'nowhere'], /--health/],
    [['--kubernetes', '--namespaces', ''], /--namespaces: name at least one/],
    [['--kubernetes', '--namespaces', ','], /--namespaces/],
    [['--kubernetes', '--manager', 'My Operator, Inc'], /--manager/],
    [['--kubernetes', '--webhook-url', 'https://[fd00::5]:9443'], /--webhook-url/],
    [['--kubernetes', '--host-ownership', 'mine'], /--host-ownership/],
    [['--unknown'], /unknown/],
    [['validate', 'apis/'], /^validate: unexpected argument; see --help$/],
    [
      ['--manifests', 'x', '--data-planes', 'http://u:secret@127.0.0.1:1'],
      /^(?!.*secret).*must not contain credentials/,
    ],
  ])('%j is a fault', (argv, words) => {
    const parsed = read(...argv)
    expect(parsed.kind === 'error' ? parsed.message : parsed.kind).toMatch(words)
  })

  it('come from the environment and a file too', () => {
    const parsed = readOperatorSettings(
      ['--config', 'f'],
      { SVC_OPERATOR_MANAGER: 'me' },
      () => 'manifests: dir\nstatus: "off"',
    )
    expect(parsed).toMatchObject({ settings: { manager: 'me', manifests: 'dir', status: 'off' } })
  })
})

describe('settings on Kubernetes', () => {
  it('need nothing but the word', () => {
    const parsed = read('--kubernetes')
    expect(parsed.kind === 'settings' ? parsed.settings : parsed).toMatchObject({
      kubernetes: true,
      namespaces: ['all'],
      hostOwnership: 'strict',
      wildcardNamespaces: [],
      serviceEndpoints: true,
      dataPlaneTls: true,
      webhook: 'off',
      health: 'off',
    })
  })
})
