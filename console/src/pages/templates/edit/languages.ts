import { TEMPLATE_LANGUAGES } from '../../../shared/template-languages.js'

/** The languages as options, with their names in the page's language. */
export function languageOptions(pageLanguage: string): { value: string; label: string }[] {
  const names = new Intl.DisplayNames([pageLanguage], { type: 'language' })
  return TEMPLATE_LANGUAGES.map((value) => ({
    value,
    label: `${names.of(value.replace('_', '-')) ?? value} (${value})`,
  }))
}
