import { Group, MultiSelect, Radio, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { ReadList } from '../../../../../../src/model/broadcasts/read-list.js'
import { useFormat } from '../../../../shared/format.js'
import { messageOf } from '../../../../shared/problem.js'
import { useTags } from '../../../../shared/use-tags.js'
import { AUDIENCES, type AudienceKind, type Draft } from '../draft.js'
import { Section } from '../section.js'
import { ContactsPicker } from './contacts-picker.js'
import { PastedList } from './pasted-list.js'

interface AudienceSectionProps {
  form: UseFormReturnType<Draft>
  list: ReadList
  /** Why the list cannot be read. */
  problem: Error | null
}

/** Selects the audience of the broadcast. */
export function AudienceSection({ form, list, problem }: AudienceSectionProps) {
  const { t } = useTranslation('broadcasts')
  const { values, errors } = form
  return (
    <Section title={t('compose.audience')}>
      <Radio.Group
        label={t('compose.who')}
        value={values.audience}
        error={errors.audience}
        withAsterisk
        onChange={(kind) => form.setFieldValue('audience', kind as AudienceKind)}
      >
        <Group gap="lg" mt="xs">
          {AUDIENCES.map((kind) => (
            <Radio
              key={kind}
              value={kind}
              label={t(`audiences.${kind}`)}
              {...(kind === AUDIENCES[0] && { 'data-path': 'audience' })}
            />
          ))}
        </Group>
      </Radio.Group>
      {values.audience === 'all' && (
        <Text size="sm" c="dimmed">
          {t('audienceHints.all')}
        </Text>
      )}
      {values.audience === 'tags' && (
        <TagsPicker value={values.tags} error={errors.tags} onChange={(tags) => form.setFieldValue('tags', tags)} />
      )}
      {values.audience === 'contacts' && (
        <ContactsPicker
          value={values.contacts}
          error={errors.contacts}
          onChange={(contacts) => form.setFieldValue('contacts', contacts)}
        />
      )}
      {values.audience === 'list' && (
        <PastedList
          value={values.list}
          error={problem ? messageOf(problem) : errors.list}
          list={list}
          onChange={(given) => form.setFieldValue('list', given)}
        />
      )}
    </Section>
  )
}

interface TagsPickerProps {
  value: string[]
  error: ReactNode
  onChange: (tags: string[]) => void
}

function TagsPicker({ value, error, onChange }: TagsPickerProps) {
  const { t } = useTranslation('broadcasts')
  const { number } = useFormat()
  const tags = useTags()
  const counts = new Map(tags.map(({ tag, count }) => [tag, count]))
  return (
    <MultiSelect
      label={t('audiences.tags')}
      description={t('audienceHints.tags')}
      placeholder={value.length === 0 ? t('compose.tagsPlaceholder') : undefined}
      nothingFoundMessage={t('compose.noTag')}
      data={tags.map(({ tag }) => tag)}
      value={value}
      onChange={onChange}
      error={error}
      data-path="tags"
      renderOption={({ option }) => (
        <Group justify="space-between" flex={1}>
          {option.label}
          <Text size="sm" c="dimmed">
            {number(counts.get(option.value) ?? 0)}
          </Text>
        </Group>
      )}
      maxValues={100}
      searchable
      clearable
      hidePickedOptions
    />
  )
}
