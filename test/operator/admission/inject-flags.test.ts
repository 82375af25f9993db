// Flags of sidecars, validated by the gateway's own table before any Pod has them.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { readGatewaySettings, SETTINGS } from '../../../dataplane/config.ts'
import { flagProblems } from '../../../operator/admission/inject-flags.ts'
import { GATEWAY_FLAGS_PATH, renderGatewayFlags } from '../../support/gateway-flags-file.ts'

const messages = (args: readonly string[], env: readonly Record<string, string>[] = []): string[] =>
  flagProblems(args, env).map(({ message }) => message)

describe('what the operator knows of the flags of the gateway', () => {
  it('is what its settings table says; `make golden` writes it', async () => {
    expect(readFileSync(GATEWAY_FLAGS_PATH, 'utf8')).toBe(await renderGatewayFlags())
  })
})

describe('flags of sidecars', () => {
  it.each([
    ['--log-level=debug'],
    ['--allow-unmanaged'],
    ['--no-allow-unmanaged'],
    ['--redis=redis://redis:6379'],
    ['--redis=redis://redis:6379', '--redis-away=accept'],
    ['--public-tls=:18443', '--tls-dir=/etc/tls'],
    ['--otlp=http://collector:4318', '--trace-share=0.1'],
    ['--ready-from-snapshot=30s'],
  ])('may be %s', (...args) => {
    expect(messages(args)).toEqual([])
    const own = ['--managed=x', '--state-dir=/tmp/none']
    expect(readGatewaySettings([...own, ...args], {})).toMatchObject({ kind: 'settings' })
  })

  it.each<[string, string, RegExp]>([
    ['an unknown one', '--log-levle=debug', /^\/args\/0: --log-levle: .* did you mean --log-level/],
    ['a reserved word', '--constructor=1', /--constructor: unknown setting/],
    ['a value', '--log-level=loud', /--log-level: 'loud' is not valid; expected one of debug/],
    ['a number out of bounds', '--max-header-bytes=1', /expected a whole number from 1024/],
    ['no value', '--log-level', /--log-level: a value must follow/],
    ['a word', 'drain', /write it as --name=value/],
    ['a flag in two words', '-v', /write it as --name=value/],
    ['what the gateway would end after', '--help', /--help can't be given here/],
    ['what another flag must be given with', '--trace-share=0.1', /--trace-share needs --otlp too/],
    ['a flag of ours', '--management=:1', /--management can't be given here: the injection sets/],
    [
      'a second way in',
      '--management-token-file=/t',
      /--management-token-file can't be given here/,
    ],
    ['a file of more', '--config=/etc/more.yaml', /--config can't be given here: give each/],
    ['the annotation', '--public=:9', /--public can't be given here: it is set by an annotation/],
    ['the delay', '--drain-delay-seconds=9', /give it as env SVC_GATEWAY_DRAIN_DELAY_SECONDS/],
  ])('are refused for %s', (_, arg, message) => {
    expect(messages([arg])).toEqual([expect.stringMatching(message)])
  })

  it.each([
    [['--management-token=Sesame-1234'], []],
    [['--redis=redis://:Sesame-1234@redis:6379'], []],
    [['--redis', 'redis://:Sesame-1234@redis:6379'], []],
    [[], [{ name: 'SVC_GATEWAY_REDIS', value: 'redis://:Sesame-1234@redis' }]],
    [[], [{ name: 'SVC_GATEWAY_MANAGEMENT_TOKEN', value: 'Sesame-1234' }]],
  ])('are refused with a secret that is not shown: %j %j', (args, env) => {
    const shown = messages(args, env)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.join()).not.toContain('Sesame')
  })

  it('take what they need from variables', () => {
    const redis = { name: 'SVC_GATEWAY_REDIS', valueFrom: '' }
    expect(messages(['--redis-away=accept'], [redis])).toEqual([])
    expect(messages(['--redis-away=accept'], [])).toHaveLength(1)
  })
})

describe('variables of sidecars', () => {
  it.each([
    { name: 'SVC_GATEWAY_DRAIN_DELAY_SECONDS', value: '4' },
    { name: 'SVC_GATEWAY_REDIS', valueFrom: '' },
    { name: 'SVC_GATEWAY_SERVICE_HOST', value: '10.0.0.1' },
    { name: 'NODE_OPTIONS', value: '--anything' },
  ])('may be %j', (variable) => {
    expect(messages([], [variable])).toEqual([])
  })

  it.each([
    [
      { name: 'SVC_GATEWAY_LOG_LEVEL', value: 'loud' },
      /SVC_GATEWAY_LOG_LEVEL: 'loud' is not valid/,
    ],
    [{ name: 'SVC_GATEWAY_LOG_LEVLE', value: 'info' }, /SVC_GATEWAY_LOG_LEVLE: unknown setting/],
    [{ name: 'SVC_GATEWAY_LOG_LEVLE', valueFrom: '' }, /SVC_GATEWAY_LOG_LEVLE: unknown setting/],
    [{ name: 'SVC_GATEWAY_PID_FILE', value: '/tmp/pid' }, /the injection sets it itself/],
  ])('are refused: %j', (variable, message) => {
    expect(messages([], [variable])).toEqual([expect.stringMatching(message)])
  })
})

describe('every flag of the gateway', () => {
  it.each(Object.entries(SETTINGS.settings))(
    '%s: its default may be given, or is closed',
    (name, setting) => {
      if (setting.default === null || Array.isArray(setting.default)) return
      const problems = messages([`--${name}=${String(setting.default)}`])
      const isClosedOrNeedy = problems.every((each) => /can't be given here|needs --/.test(each))
      expect([problems, isClosedOrNeedy]).toEqual([problems, true])
    },
  )
})
