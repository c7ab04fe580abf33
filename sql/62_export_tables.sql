-- Export tables: triggers that disclosure.protect(…, on_rows => …) puts on them.

CREATE FUNCTION disclosure.export_turn() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'export_turn_wrapper';
COMMENT ON FUNCTION disclosure.export_turn() IS
  'trigger of export tables: wait until no other transaction has changed the table';

CREATE FUNCTION disclosure.export_collect() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'export_collect_wrapper';
COMMENT ON FUNCTION disclosure.export_collect() IS
  'trigger of export tables: remember where a new row is, which may have to be left out again';

CREATE FUNCTION disclosure.export_judge() RETURNS trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'export_judge_wrapper';
COMMENT ON FUNCTION disclosure.export_judge() IS
  'trigger of export tables: judge what a statement leaves behind; refuse it, leave unsafe rows out, or warn';

CREATE FUNCTION disclosure.arm_relatives() RETURNS event_trigger
  LANGUAGE c AS 'MODULE_PATHNAME', 'arm_relatives_wrapper';
COMMENT ON FUNCTION disclosure.arm_relatives() IS
  'event trigger: partitions and children of export tables get the triggers too';
CREATE EVENT TRIGGER disclosure_arm_relatives ON ddl_command_end
  WHEN TAG IN ('CREATE TABLE', 'CREATE SCHEMA', 'ALTER TABLE')
  EXECUTE FUNCTION disclosure.arm_relatives();
ALTER EVENT TRIGGER disclosure_arm_relatives ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER disclosure_arm_relatives IS
  'partitions and children of export tables get the triggers too';
