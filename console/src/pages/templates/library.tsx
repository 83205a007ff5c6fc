import { Anchor, Button, Center, Group, Modal, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowLeft } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'
import { api } from '../../api/client.js'
import { Loading } from '../../layout/loading.js'
import { useSession } from '../../session/session.js'
import { asText } from '../../shared/json.js'
import { NoNumber, useHasNumber } from '../../shared/no-number.js'
import { PageFrame } from '../../shared/page-frame.js'
import { LoadProblem, notifyDone } from '../../shared/problem.js'
import { TemplatePreview } from '../../shared/templates/template-preview.js'
import { useIdempotencyKey } from '../broadcasts/compose/idempotency.js'
import { TEMPLATES, useLibrary } from './data.js'
import { variablesOf } from './edit/draft.js'
import { languageOptions } from './edit/languages.js'
import { Refusal } from './refusal.js'
import type { LibraryTemplate, Template } from './types.js'

const TYPING_MS = 400

/** WhatsApp's library, from which templates are made that are approved at once. */
export function LibraryPage() {
  const { t } = useTranslation('templates')
  const hasNumber = useHasNumber()
  return (
    <PageFrame
      title={t('library')}
      subtitle={<Text size="sm">{t('pages.hint')}</Text>}
      above={
        <Anchor component={Link} to="/templates" size="sm">
          <IconArrowLeft aria-hidden size={14} /> {t('title')}
        </Anchor>
      }
    >
      {hasNumber ? <Library /> : <NoNumber purpose="templates" />}
    </PageFrame>
  )
}

function Library() {
  const { t, i18n } = useTranslation('templates')
  const [search, setSearch] = useState('')
  const [language, setLanguage] = useState(useSession().organization.language)
  const [debounced] = useDebouncedValue(search, TYPING_MS)
  const [chosen, choose] = useState<LibraryTemplate | null>(null)
  const languages = useMemo(() => languageOptions(i18n.language), [i18n.language])
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useLibrary(debounced, language)
  const templates = data?.pages.flatMap((page) => page.templates) ?? []
  return (
    <Stack>
      <Group grow align="flex-end">
        <TextInput
          label={t('pages.search')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          maxLength={100}
        />
        <Select
          label={t('form.language')}
          data={languages}
          value={language}
          onChange={(value) => setLanguage(value ?? language)}
          allowDeselect={false}
          searchable
        />
      </Group>
      {error && <LoadProblem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && templates.length === 0 && <Text c="dimmed">{t('pages.none')}</Text>}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {templates.map((template) => (
          <Stack key={`${template.name} ${template.language}`} gap="xs">
            <Text size="sm" fw={500}>
              {template.name}
            </Text>
            <TemplatePreview template={toShown(template)} values={valuesOf(template)} />
            <Button variant="default" size="xs" onClick={() => choose(template)}>
              {t('actions.use')}
            </Button>
          </Stack>
        ))}
      </SimpleGrid>
      {hasNextPage && (
        <Center>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('pages.more')}
          </Button>
        </Center>
      )}
      <Modal opened={chosen !== null} onClose={() => choose(null)} title={chosen?.name}>
        {chosen && <UseForm template={chosen} />}
      </Modal>
    </Stack>
  )
}

/** Asks for the name, and for what each button of the library leads to. */
function UseForm({ template }: { template: LibraryTemplate }) {
  const { t } = useTranslation('templates')
  const [name, setName] = useState(template.name)
  const [values, setValues] = useState<Record<number, string>>({})
  const creation = useCreate(template)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate({ name, values })
      }}
    >
      <Stack>
        <TextInput
          label={t('form.name')}
          description={t('form.nameHint')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={512}
          required
          data-autofocus
        />
        {template.buttons.map((button, index) => {
          const isUrl = button.type === 'URL'
          if (!isUrl && button.type !== 'PHONE_NUMBER') return null
          const text = asText(button.text) ?? ''
          return (
            <TextInput
              // biome-ignore lint/suspicious/noArrayIndexKey: the buttons of a template never change
              key={index}
              label={t(isUrl ? 'pages.buttonUrl' : 'pages.buttonPhone', { text })}
              placeholder={isUrl ? 'https://example.com/{{1}}' : '+5511900001234'}
              value={values[index] ?? ''}
              onChange={(event) => setValues({ ...values, [index]: event.currentTarget.value })}
              required
            />
          )
        })}
        {creation.isError && <Refusal error={creation.error} />}
        <Button type="submit" loading={creation.isPending}>
          {t('pages.go')}
        </Button>
      </Stack>
    </form>
  )
}

function useCreate(template: LibraryTemplate) {
  const { t } = useTranslation('templates')
  const keyFor = useIdempotencyKey()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, values }: { name: string; values: Record<number, string> }) => {
      const { language, category, name: library_template_name, buttons } = template
      const body = {
        ...{ name, language, category, library_template_name },
        library_template_button_inputs: buttons.map(({ type }, index) => toInput(type, values[index] ?? '')),
      }
      return api.post<{ template: Template }>('/templates', body, { idempotencyKey: keyFor(body) })
    },
    onSuccess: async ({ template: { status } }) => {
      notifyDone(t(status === 'APPROVED' ? 'approved' : 'created'))
      await queries.invalidateQueries({ queryKey: TEMPLATES })
      await navigate('/templates')
    },
  })
}

function toInput(type: unknown, value: string): object {
  if (type === 'PHONE_NUMBER') return { type, phone_number: value }
  if (type !== 'URL') return { type }
  const hasVariable = variablesOf(value).length > 0
  return {
    type,
    url: { base_url: value, ...(hasVariable && { url_suffix_example: value.replace('{{1}}', 'example') }) },
  }
}

/** A template of the library as the preview takes it. */
function toShown({ name, language, category, header, body, footer, buttons }: LibraryTemplate) {
  return {
    ...{ name, language, category, status: 'APPROVED', parameter_format: 'POSITIONAL' as const },
    components: [
      ...(header === null ? [] : [{ type: 'HEADER', format: 'TEXT', text: header }]),
      { type: 'BODY', text: body },
      ...(footer === null ? [] : [{ type: 'FOOTER', text: footer }]),
      ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons }]),
    ],
  }
}

function valuesOf({ body_params: params }: LibraryTemplate) {
  return { header: {}, buttons: {}, body: Object.fromEntries(params.map((value, index) => [String(index + 1), value])) }
}
