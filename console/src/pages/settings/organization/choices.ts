import { TEMPLATE_LANGUAGES } from '../../../shared/template-languages.js'
import { COUNTRIES } from './countries.js'

/** An option of a Select. */
export interface Choice {
  value: string
  label: string
}

/** Countries by name, with calling codes. For all of these, `locale` is the page's and `stored` is always included. */
export function countryChoices(locale: string, stored: string): Choice[] {
  const names = new Intl.DisplayNames(locale, { type: 'region' })
  const choices = COUNTRIES.map(({ code, dialling }) => ({ value: code, label: `${names.of(code)} (+${dialling})` }))
  return complete(choices, stored, locale)
}

/** IANA time zones. */
export function timezoneChoices(locale: string, stored: string): Choice[] {
  const choices = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => ({
    value: name,
    label: name.replaceAll('_', ' '),
  }))
  return complete(choices, stored, locale)
}

/** Currencies by name. */
export function currencyChoices(locale: string, stored: string): Choice[] {
  const names = new Intl.DisplayNames(locale, { type: 'currency' })
  const choices = Intl.supportedValuesOf('currency').map((code) => ({
    value: code,
    label: `${capitalize(names.of(code) ?? code, locale)} (${code})`,
  }))
  return complete(choices, stored, locale)
}

/** Template languages by name. */
export function languageChoices(locale: string, stored: string): Choice[] {
  const names = new Intl.DisplayNames(locale, { type: 'language' })
  const choices = TEMPLATE_LANGUAGES.map((code) => ({
    value: code,
    label: `${capitalize(names.of(code.replace('_', '-')) ?? code, locale)} (${code})`,
  }))
  return complete(choices, stored, locale)
}

function complete(choices: Choice[], stored: string, locale: string): Choice[] {
  const unique = [...new Map(choices.map((choice) => [choice.value, choice])).values()]
  const all = unique.some(({ value }) => value === stored) ? unique : [{ value: stored, label: stored }, ...unique]
  return all.sort((one, other) => one.label.localeCompare(other.label, locale))
}

function capitalize(text: string, locale: string): string {
  return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1)
}
