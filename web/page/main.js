// Starts the page: shows the view that the fragment of the address names, reads its data, and asks for a token where
// the server wants one.

import { hasToken, read, setToken, TokenNeededError } from './api.js'
import { documentsView, documentView } from './documents.js'
import { element, elementOf, fill, viewLink } from './dom.js'
import { examplesView } from './examples.js'
import { failuresView, whyView } from './failures.js'
import { hashOf, readHash, sumOf } from './format.js'
import { gatewaysView, gatewayView } from './gateways.js'
import { noticesOf } from './notices.js'
import { realmsView } from './realms.js'
import { routesView } from './routes.js'

/** @import { GatewayNamesPage, Overview } from '../overview.ts' */
/** @import { ViewDeps, View } from './list.js' */

/** @typedef {Overview & { examples?: boolean }} PageOverview of the playground there are examples too */

/** @typedef {{ make: (deps: ViewDeps) => View, title?: string, under?: string, count?: (overview: PageOverview) => number, asksOne?: boolean, isThere?: (overview: PageOverview) => boolean }} ViewEntry */

/** Name in the fragment → how to make it; those with a title are in the navigation, of some a person chooses a gateway. @type {Readonly<Record<string, ViewEntry>>} */
const VIEWS = {
  documents: { make: documentsView, title: 'Documents', count: (all) => sumOf(all.documents) },
  document: { make: documentView, under: 'documents' },
  routes: { make: routesView, title: 'Routes', asksOne: true },
  gateways: { make: gatewaysView, title: 'Gateways', count: (all) => sumOf(all.gateways) },
  gateway: { make: gatewayView, under: 'gateways' },
  realms: { make: realmsView, title: 'Realms', count: (all) => sumOf(all.realms) },
  failures: { make: failuresView, title: 'Failures', asksOne: true },
  why: { make: whyView, under: 'failures' },
  examples: { make: examplesView, title: 'Examples', isThere: (all) => all.examples === true },
}

const FIRST_VIEW = 'documents'
const REPEAT_MS = 10_000
/** Names of gateways to choose from. */
const MOST_GATEWAYS = '100'

const main = elementOf('main')
const problem = element('div', {})
const repeat = /** @type {HTMLInputElement} */ (elementOf('repeat'))

/** What is shown: its requests end with it. @type {{ name: string, view?: View, ending: AbortController }} */
let shown = { name: '', ending: new AbortController() }

/** @param {string} words */
const say = (words) => {
  fill(elementOf('status'), words)
}

/** Shows the view that the address names, from its begin. */
const open = async () => {
  const { view: requested, parameters } = readHash(location.hash)
  const name = Object.hasOwn(VIEWS, requested) ? requested : FIRST_VIEW
  shown.ending.abort()
  const ending = new AbortController()
  const focused = name === shown.name ? document.activeElement?.id : 'main'
  shown = { name, ending }
  await attempt(ending, async () => {
    const overview = await readOverview(ending.signal)
    if (overview.message !== null) {
      fill(main, problem, element('p', { class: 'problem' }, overview.message))
      return
    }
    const { make, asksOne = false } = viewOf(name)
    const view = make({
      parameters,
      say,
      gateways: asksOne && overview.program === 'operator' ? await readGateways(ending.signal) : [],
      read: (path, query) => read(path, query, ending.signal),
      attempt: (task) => attempt(ending, task),
    })
    shown = { name, view, ending }
    document.title = `${view.title} · svc-gateway`
    fill(main, problem, ...noticesOf(overview), view.content)
    focus(focused)
    await view.load()
  })
}

/** Reads what is shown once more, and leaves the controls as they are. */
const refresh = async () => {
  const { view, ending } = shown
  if (view === undefined) {
    await open()
    return
  }
  await attempt(ending, async () => {
    await readOverview(ending.signal)
    await view.load()
  })
}

/**
 * @param {string} name of `VIEWS`
 * @returns {ViewEntry}
 */
const viewOf = (name) => VIEWS[name] ?? { make: documentsView }

/**
 * Says what has failed; asks for a token where one is needed.
 * @param {AbortController} ending of the view that it is for
 * @param {() => Promise<void>} task
 */
const attempt = async (ending, task) => {
  main.setAttribute('aria-busy', 'true')
  try {
    await task()
    if (!ending.signal.aborted) fill(problem)
  } catch (error) {
    if (ending.signal.aborted) return
    if (error instanceof TokenNeededError) askForToken()
    else show(error instanceof Error ? error.message : String(error))
  } finally {
    if (!ending.signal.aborted) main.removeAttribute('aria-busy')
  }
}

/** @param {string} message */
const show = (message) => {
  fill(problem, element('p', { class: 'problem', role: 'alert' }, message))
  if (!main.contains(problem)) main.prepend(problem)
}

/** The field has no name, so that no browser offers to store what is in it. */
const askForToken = () => {
  const field = element('input', {
    id: 'token',
    type: 'text',
    class: 'token',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  })
  const form = element(
    'form',
    { class: 'search' },
    element('label', { for: 'token' }, 'Token of the management API'),
    field,
    element('button', { type: 'submit' }, 'Use it'),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    setToken(field.value)
    field.value = ''
    elementOf('forget').hidden = !hasToken()
    void open()
  })
  const words = hasToken()
    ? 'The server does not accept this token.'
    : 'This server asks for a token: a line of the file of --management-token-file.'
  fill(
    main,
    element('h2', {}, 'A token is needed'),
    element('p', {}, words),
    form,
    element('p', { class: 'note' }, 'It stays in the memory of this page until you close it.'),
  )
  shown = { name: '', ending: shown.ending }
  field.focus()
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<PageOverview>}
 */
const readOverview = async (signal) => {
  const overview = /** @type {PageOverview} */ (await read('/overview', {}, signal))
  const { program, version, manager } = overview
  const names = [program, version, manager === null ? '' : `manager ${manager}`]
  fill(elementOf('about'), names.filter((name) => name !== '').join(' · '))
  fill(
    elementOf('views'),
    ...Object.entries(VIEWS).map(([name, entry]) => navigationEntry(name, entry, overview)),
  )
  return overview
}

/**
 * @param {string} name
 * @param {ViewEntry} entry
 * @param {PageOverview} overview
 */
const navigationEntry = (name, { title, count, isThere }, overview) => {
  if (title === undefined || isThere?.(overview) === false) return null
  const link = viewLink(hashOf(name), title)
  const all = count?.(overview)
  if (all !== undefined && overview.message === null)
    link.append(' ', element('small', {}, all.toLocaleString('en')))
  const isShown = name === shown.name || name === viewOf(shown.name).under
  if (isShown) link.setAttribute('aria-current', 'page')
  return element('li', {}, link)
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<readonly string[]>} names to choose from
 */
const readGateways = async (signal) => {
  const query = { view: 'names', limit: MOST_GATEWAYS }
  const page = await read('/overview/gateways', query, signal)
  return /** @type {GatewayNamesPage} */ (page).gateways.map(({ name }) => name)
}

/** @param {string | undefined} id an element of the view that was made again, or all of it */
const focus = (id) => {
  const found = id === undefined || id === '' ? null : document.getElementById(id)
  // Not at the start: the first thing that the keyboard reaches is the link to skip what is above.
  if (found === null || (id === 'main' && isFirst)) {
    isFirst = false
    return
  }
  isFirst = false
  found.focus()
}

let isFirst = true

/** Who reads or points at something is not disturbed. */
const mayRepeat = () => {
  const isReading = document.getSelection()?.isCollapsed === false
  const isPointing = document.activeElement?.closest('.rows') !== null
  return repeat.checked && !document.hidden && !isReading && !isPointing
}

/** @param {KeyboardEvent} event */
const onKey = (event) => {
  const isTyping =
    event.target instanceof Element && event.target.matches('input, textarea, select')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const search = document.getElementById('search')
  if (search === null) return
  event.preventDefault()
  search.focus()
}

addEventListener('hashchange', () => void open())
document.addEventListener('keydown', onKey)
elementOf('refresh').addEventListener('click', () => void refresh())
elementOf('forget').addEventListener('click', () => {
  setToken('')
  elementOf('forget').hidden = true
  void open()
})
elementOf('skip').addEventListener('click', (event) => {
  // The fragment names views.
  event.preventDefault()
  main.focus()
})
setInterval(() => {
  if (mayRepeat()) void refresh()
}, REPEAT_MS)
void open()
