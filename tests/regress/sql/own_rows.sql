-- Tables to which every role may add rows of its own, with the trigger that they share.
CREATE ROLE "pd Own";
CREATE ROLE pd_other;
CREATE ROLE pd_extension_owner;
CREATE TABLE terms (
  term    text,
  owner   disclosure_internal.role_reference DEFAULT quote_ident(CURRENT_USER)::regrole,
  shipped boolean NOT NULL DEFAULT false
);
INSERT INTO terms VALUES ('shipped', NULL, true);
CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON terms
  FOR EACH ROW EXECUTE FUNCTION disclosure_internal.keep_own_rows();
CREATE TRIGGER keep_truncated_rows BEFORE TRUNCATE ON terms
  FOR EACH STATEMENT EXECUTE FUNCTION disclosure_internal.keep_own_rows();
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON terms TO PUBLIC;

-- A role adds, changes and deletes rows of its own.
SET ROLE "pd Own";
INSERT INTO terms (term) VALUES ('one'), ('two'), ('three');
UPDATE terms SET term = 'one, changed' WHERE term = 'one';
DELETE FROM terms WHERE term = 'two';
-- And no others.
UPDATE terms SET term = 'mine' WHERE shipped;
DELETE FROM terms WHERE shipped;
UPDATE terms SET shipped = true WHERE term = 'three';
UPDATE terms SET owner = 'pd_other' WHERE term = 'three';
UPDATE terms SET owner = NULL WHERE term = 'three';
INSERT INTO terms (term, owner) VALUES ('of another', 'pd_other');
INSERT INTO terms (term, owner) VALUES ('of nobody', 'pd_no_such_role');
INSERT INTO terms (term, owner) VALUES ('for everybody', NULL);
INSERT INTO terms (term, shipped) VALUES ('shipped later', true);
TRUNCATE terms;
SET ROLE pd_other;
UPDATE terms SET term = 'mine' WHERE term = 'three';
UPDATE terms SET owner = 'pd_other' WHERE term = 'three';
DELETE FROM terms WHERE term = 'three';
-- Rows are limited in number and size.
INSERT INTO terms (term) VALUES (repeat('x', 20000));
INSERT INTO terms (term) SELECT 'many' FROM generate_series(1, 1001);
INSERT INTO terms (term) SELECT 'many' FROM generate_series(1, 999);
INSERT INTO terms (term) SELECT 'too many' FROM generate_series(1, 2);
DELETE FROM terms WHERE term = 'many';
-- The rights of a role that one is a member of are not enough: SET ROLE is.
RESET ROLE;
GRANT "pd Own" TO pd_other;
SET ROLE pd_other;
DELETE FROM terms WHERE term = 'three';
SET ROLE "pd Own";
DELETE FROM terms WHERE term = 'three';

-- A superuser adds rows for everybody, and rows of others as a restore does, but changes no shipped row.
RESET ROLE;
INSERT INTO terms (term, owner) VALUES ('for everybody', NULL), ('of another', 'pd_other'), ('of nobody', 'pd_no_such_role');
INSERT INTO terms (term, shipped) VALUES ('shipped later', true);
UPDATE terms SET term = 'mine' WHERE shipped;
DELETE FROM terms WHERE shipped;
TRUNCATE terms;
SELECT * FROM terms ORDER BY term COLLATE "C";
DELETE FROM terms WHERE term = 'of nobody';
SET ROLE pd_other;
UPDATE terms SET term = 'mine' WHERE owner IS NULL AND NOT shipped;
DELETE FROM terms WHERE owner IS NULL AND NOT shipped;

-- The extension's owner, also if it is no superuser any more, adds rows for everybody, and none of others.
RESET ROLE;
BEGIN;
UPDATE pg_extension SET extowner = 'pd_extension_owner'::regrole WHERE extname = 'pg_disclosure';
SET ROLE pd_extension_owner;
INSERT INTO terms (term, owner) VALUES ('also for everybody', NULL);
UPDATE terms SET term = 'for everybody, changed' WHERE term = 'for everybody';
SAVEPOINT before;
UPDATE terms SET owner = NULL WHERE term = 'of another';
ROLLBACK TO before;
DELETE FROM terms WHERE shipped;
ROLLBACK TO before;
SELECT * FROM terms ORDER BY term COLLATE "C";
ROLLBACK;
DROP TABLE terms;
DROP ROLE "pd Own", pd_other, pd_extension_owner;
