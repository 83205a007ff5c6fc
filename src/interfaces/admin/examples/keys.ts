// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "keys.create": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"name": "Website", "scopes": ["contacts:read", "messages:send"]},
      "status": 201,
      "answer": {
        "success": true,
        "api_key": {
          "id": "01a20000-0000-7000-8000-000000000003",
          "name": "Website",
          "prefix": "parley_EXAM",
          "scopes": ["contacts:read", "messages:send"],
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "key": "parley_EXAMPLE"
        }
      }
    },
    {
      "name": "invalid_field",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"name": "Website", "scopes": ["everything"]},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid field",
        "message": "scopes[0] must be one of contacts:read, contacts:write, conversations:read, messages:send, templates:send, broadcasts:read, broadcasts:write, analytics:read, webhooks:read, webhooks:write, gateway"
      }
    }
  ],
  "keys.rotate": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000003"},
      "body": {"overlap_seconds": 3600},
      "status": 201,
      "answer": {
        "success": true,
        "api_key": {
          "id": "01a20000-0000-7000-8000-000000000004",
          "name": "Website",
          "prefix": "parley_EXAM",
          "scopes": ["contacts:read", "messages:send"],
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "key": "parley_EXAMPLE"
        }
      }
    },
    {
      "name": "api_key_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000002"},
      "body": {},
      "status": 404,
      "answer": {
        "success": false,
        "error": "API key not found",
        "message": "There is no API key with the id 01a20000-0000-7000-8000-000000000002"
      }
    }
  ],
  "keys.list": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "api_keys": [
          {
            "id": "01a20000-0000-7000-8000-000000000003",
            "name": "Website",
            "prefix": "parley_EXAM",
            "scopes": ["contacts:read", "messages:send"],
            "expires_at": null,
            "revoked_at": "2026-03-02T10:00:00.000Z",
            "last_used_at": null,
            "created_at": "2026-03-02T09:00:00.000Z"
          },
          {
            "id": "01a20000-0000-7000-8000-000000000004",
            "name": "Website",
            "prefix": "parley_EXAM",
            "scopes": ["contacts:read", "messages:send"],
            "expires_at": null,
            "revoked_at": null,
            "last_used_at": null,
            "created_at": "2026-03-02T09:00:00.000Z"
          }
        ]
      }
    },
    {
      "name": "organization_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000002"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Organization not found",
        "message": "There is no organization with the id 01a20000-0000-7000-8000-000000000002"
      }
    }
  ],
  "keys.revoke": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000004"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "The API key has been revoked",
        "api_key": {
          "id": "01a20000-0000-7000-8000-000000000004",
          "name": "Website",
          "prefix": "parley_EXAM",
          "scopes": ["contacts:read", "messages:send"],
          "expires_at": null,
          "revoked_at": "2026-03-02T09:00:00.000Z",
          "last_used_at": null,
          "created_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "api_key_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000002"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "API key not found",
        "message": "There is no API key with the id 01a20000-0000-7000-8000-000000000002"
      }
    }
  ]
}
