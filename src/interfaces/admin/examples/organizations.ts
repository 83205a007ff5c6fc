// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "organizations.create": [
    {
      "name": "example",
      "body": {"name": "Globex", "slug": "globex", "country": "BR"},
      "status": 201,
      "answer": {
        "success": true,
        "organization": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "name": "Globex",
          "slug": "globex",
          "provider": null,
          "default_country": "BR",
          "timezone": "America/Sao_Paulo",
          "currency": "BRL",
          "language": "pt_BR",
          "attribution_window_days": 7,
          "retention_days": 30,
          "message_retention_days": null,
          "media_retention_days": null,
          "legal_hold": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "already_taken",
      "body": {"name": "Globex", "slug": "globex"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Already taken",
        "message": "The slug \"globex\" belongs to another organization: choose another one"
      }
    }
  ],
  "organizations.get": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "organization": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "name": "Globex",
          "slug": "globex",
          "provider": null,
          "default_country": "BR",
          "timezone": "America/Sao_Paulo",
          "currency": "BRL",
          "language": "pt_BR",
          "attribution_window_days": 7,
          "retention_days": 30,
          "message_retention_days": null,
          "media_retention_days": null,
          "legal_hold": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
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
  "organizations.list": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "organizations": [
          {
            "id": "01a20000-0000-7000-8000-000000000001",
            "name": "Globex",
            "slug": "globex",
            "provider": null,
            "default_country": "BR",
            "timezone": "America/Sao_Paulo",
            "currency": "BRL",
            "language": "pt_BR",
            "attribution_window_days": 7,
            "retention_days": 30,
            "message_retention_days": null,
            "media_retention_days": null,
            "legal_hold": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        ]
      }
    },
    {
      "name": "invalid_api_key",
      "status": 401,
      "answer": {
        "success": false,
        "error": "Invalid API key",
        "message": "The admin token is wrong: it is PARLEY_ADMIN_TOKEN, or in the data folder"
      }
    }
  ],
  "organizations.update": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"timezone": "America/Sao_Paulo"},
      "status": 200,
      "answer": {
        "success": true,
        "organization": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "name": "Globex",
          "slug": "globex",
          "provider": null,
          "default_country": "BR",
          "timezone": "America/Sao_Paulo",
          "currency": "BRL",
          "language": "pt_BR",
          "attribution_window_days": 7,
          "retention_days": 30,
          "message_retention_days": null,
          "media_retention_days": null,
          "legal_hold": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "invalid_field",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"timezone": "Brazil"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid field",
        "message": "timezone \"Brazil\" is not a time zone: give one such as America/Sao_Paulo"
      }
    }
  ],
  "organizations.connectUpstream": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {
        "phone_number_id": "106540352242922",
        "business_account_id": "102290129340398",
        "access_token": "EAAG…",
        "app_secret": "a1b2c3d4",
        "verify_token": "my-verify-token"
      },
      "status": 200,
      "answer": {
        "success": true,
        "organization": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "name": "Globex",
          "slug": "globex",
          "provider": "upstream",
          "default_country": "BR",
          "timezone": "America/Sao_Paulo",
          "currency": "BRL",
          "language": "pt_BR",
          "attribution_window_days": 7,
          "retention_days": 30,
          "message_retention_days": null,
          "media_retention_days": null,
          "legal_hold": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        },
        "upstream": {
          "phone_number_id": "106540352242922",
          "business_account_id": "102290129340398",
          "messages_per_second": 80,
          "pair_limit": true
        }
      }
    },
    {
      "name": "missing_required_field",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {
        "phone_number_id": "106540352242922",
        "business_account_id": "102290129340398",
        "access_token": "EAAG…",
        "app_secret": "",
        "verify_token": "my-verify-token"
      },
      "status": 400,
      "answer": {"success": false, "error": "Missing required field", "message": "app_secret is required and must not be empty"}
    }
  ],
  "organizations.connectStorefront": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"url": "https://globex.example", "access_token": "shpat_example", "webhook_secret": "secret"},
      "status": 200,
      "answer": {"success": true, "storefront": {"url": "https://globex.example"}}
    },
    {
      "name": "invalid_field",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"url": "globex", "access_token": "shpat_example", "webhook_secret": "secret"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid field",
        "message": "url must be an http or https URL without user name, query and fragment"
      }
    }
  ],
  "organizations.getStorefront": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {"success": true, "storefront": {"url": "https://globex.example"}}
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
  "organizations.previewRetention": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"message_retention_days": 365},
      "status": 200,
      "answer": {
        "success": true,
        "kinds": [
          {"kind": "callbacks", "days": 30, "rows": 0, "rows_are": "exact", "bytes": 0, "oldest": null},
          {"kind": "events", "days": 30, "rows": 0, "rows_are": "exact", "bytes": 0, "oldest": null},
          {"kind": "webhook_deliveries", "days": 30, "rows": 0, "rows_are": "exact", "bytes": 0, "oldest": null},
          {"kind": "files", "days": 365, "rows": 0, "rows_are": "exact", "bytes": 0, "oldest": null},
          {"kind": "messages", "days": 365, "rows": 0, "rows_are": "exact", "bytes": 0, "oldest": null}
        ]
      }
    },
    {
      "name": "invalid_field",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"message_retention_days": 7},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid field",
        "message": "message_retention_days 7 is less than retention_days 30: raw callbacks and events, which hold the messages too, may not be kept longer than the messages"
      }
    }
  ],
  "organizations.setHold": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"reason": "Case 12/2026", "by": "Ana Ribeiro"},
      "status": 200,
      "answer": {
        "success": true,
        "organization": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "name": "Globex",
          "slug": "globex",
          "provider": "upstream",
          "default_country": "BR",
          "timezone": "America/Sao_Paulo",
          "currency": "BRL",
          "language": "pt_BR",
          "attribution_window_days": 7,
          "retention_days": 30,
          "message_retention_days": null,
          "media_retention_days": null,
          "legal_hold": {"by": "Ana Ribeiro", "since": "2026-03-02T09:00:00.000Z", "reason": "Case 12/2026"},
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "legal_hold",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"reason": "Case 13/2026"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Legal hold",
        "message": "A legal hold is already on the organization \"globex\": release it first"
      }
    }
  ],
  "organizations.releaseHold": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "organization": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "name": "Globex",
          "slug": "globex",
          "provider": "upstream",
          "default_country": "BR",
          "timezone": "America/Sao_Paulo",
          "currency": "BRL",
          "language": "pt_BR",
          "attribution_window_days": 7,
          "retention_days": 30,
          "message_retention_days": null,
          "media_retention_days": null,
          "legal_hold": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "legal_hold",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 409,
      "answer": {"success": false, "error": "Legal hold", "message": "No legal hold is on the organization \"globex\""}
    }
  ],
  "organizations.delete": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {"success": true, "message": "The organization has been deleted; its data is removed within minutes"}
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
  ]
}
