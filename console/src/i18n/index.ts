import i18next from 'i18next'
import { type ComponentType, lazy } from 'react'
import { initReactI18next } from 'react-i18next'
import type { Sentence } from '../../../src/model/sentence.js'
import type { analytics } from './en/analytics.js'
import type { broadcasts } from './en/broadcasts.js'
import type { common } from './en/common.js'
import type { inbox } from './en/inbox.js'
import type { session } from './en/session.js'
import type { settings } from './en/settings.js'
import type { templates } from './en/templates.js'
import type { thread } from './en/thread.js'
import type { trace } from './en/trace.js'
import { describeProblem, fillSentence, type ProblemTexts, type ServiceProblem } from './problems/describe-problem.js'

/** The languages of the page, with their own names. */
export const LANGUAGES = { en: 'English', pt: 'Português' } as const
export type Language = keyof typeof LANGUAGES

/** All texts of the page. A namespace is loaded with the pages that need it. */
interface Texts {
  common: typeof common
  session: typeof session
  inbox: typeof inbox
  thread: typeof thread
  trace: typeof trace
  broadcasts: typeof broadcasts
  analytics: typeof analytics
  settings: typeof settings
  templates: typeof templates
}
type Namespace = keyof Texts

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common'
    resources: Texts
  }
}

const STORED = 'parley.language'
const FIRST: readonly Namespace[] = ['common', 'inbox']
const SOON_MS = 1_000

const files = import.meta.glob<Record<string, object>>(['./en/*.ts', './pt/*.ts'])
/** The namespaces that a change of language must load. */
const wanted = new Set<Namespace>(FIRST)

/** Starts with the stored language, else the browser's, else English. */
export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    defaultNS: 'common',
    interpolation: { escapeValue: false },
    partialBundledLanguages: true,
  })
  await chooseLanguage(initialLanguage())
}

/** Null: the service's messages are in the page's language. */
let problemTexts: ProblemTexts | null = null

/** The text of an error of the service, in the page's language. */
export function translateProblem(problem: ServiceProblem): string {
  return problemTexts ? describeProblem(problemTexts, problem) : problem.message
}

/** A sentence of the service in the page's language; `english` if that is English or has no text for it. */
export function translateSentence(sentence: Sentence | null, english: string): string {
  return (problemTexts && sentence && fillSentence(problemTexts, sentence)) ?? english
}

/** Changes the page's language and stores the choice. */
export async function chooseLanguage(language: Language): Promise<void> {
  const texts = Array.from(wanted, (namespace) => loadTexts(language, namespace))
  const [problems] = await Promise.all([loadProblemTexts(language), ...texts])
  problemTexts = problems
  localStorage.setItem(STORED, language)
  document.documentElement.lang = language === 'pt' ? 'pt-BR' : 'en'
  await i18next.changeLanguage(language)
}

/** A lazy part of the page that is loaded together with its texts. `preload` loads it while the browser is idle. */
export function lazyPart<Props extends object = object>(
  namespaces: readonly Namespace[],
  load: () => Promise<{ default: ComponentType<Props> }>,
) {
  const loadAll = async () => {
    for (const namespace of namespaces) wanted.add(namespace)
    const language = i18next.language as Language
    const [module] = await Promise.all([load(), ...namespaces.map((namespace) => loadTexts(language, namespace))])
    return module
  }
  // A failed preload is retried when the part is needed.
  return Object.assign(lazy(loadAll), { preload: () => whenIdle(() => void loadAll().catch(() => undefined)) })
}

/** Runs work when the browser is idle. Not every browser supports requestIdleCallback. */
function whenIdle(work: () => void): void {
  setTimeout('requestIdleCallback' in window ? () => window.requestIdleCallback(work) : work, SOON_MS)
}

async function loadProblemTexts(language: Language): Promise<ProblemTexts | null> {
  return language === 'pt' ? (await import('./problems/pt.js')).problems : null
}

async function loadTexts(language: Language, namespace: Namespace): Promise<void> {
  if (i18next.hasResourceBundle(language, namespace)) return
  const texts = await files[`./${language}/${namespace}.ts`]?.()
  i18next.addResourceBundle(language, namespace, texts?.[namespace])
}

function initialLanguage(): Language {
  const stored = localStorage.getItem(STORED)
  const wanted = stored ?? navigator.language
  return wanted.startsWith('pt') ? 'pt' : 'en'
}
