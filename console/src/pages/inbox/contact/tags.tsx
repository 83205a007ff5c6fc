import { Badge, Group, Stack, TagsInput, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useTags } from '../../../shared/use-tags.js'

interface TagsProps {
  tags: string[]
  /** Null if the member may not change them. */
  onChange: ((tags: string[]) => void) | null
}

/** The contact's tags, with suggestions. */
export function Tags({ tags, onChange }: TagsProps) {
  const { t } = useTranslation('inbox')
  const known = useTags()
  const queries = useQueryClient()
  if (!onChange) {
    return (
      <Stack gap={4}>
        <Text size="sm" fw={500}>
          {t('panel.tags')}
        </Text>
        <Group gap={4}>
          {tags.length === 0 && <Text size="sm">{t('panel.noTags')}</Text>}
          {tags.map((tag) => (
            <Badge key={tag} variant="default" tt="none">
              {tag}
            </Badge>
          ))}
        </Group>
      </Stack>
    )
  }
  return (
    <TagsInput
      label={t('panel.tags')}
      placeholder={t('panel.addTag')}
      value={tags}
      data={known.map(({ tag }) => tag)}
      onChange={(chosen) => {
        onChange(chosen.map((tag) => tag.slice(0, 100)))
        // A new tag becomes a suggestion for other contacts.
        void queries.invalidateQueries({ queryKey: ['tags'] })
      }}
      maxTags={100}
      acceptValueOnBlur={false}
    />
  )
}
